#include "vulkan/backend.h"

#include <algorithm>
#include <cstring>

#include "vulkan/device/probe.h"

namespace longhand::vulkan {

VulkanBackend::VulkanBackend(std::shared_ptr<Device> device)
    : device_(std::move(device)),
      pipelines_(device_),
      commands_(device_, pipelines_),
      staging_(device_, commands_),
      arena_(device_, Device::Place::device, size_t{1} << 20),
      uploads_(device_, Device::Place::host, size_t{1} << 16),
      scores_(device_, Device::Place::host, size_t{1} << 16) {}
VulkanBackend::~VulkanBackend() { commands_.abandon(); }

void VulkanBackend::begin(const PassOptions& options) {
  commands_.abandon();  // left behind by a cancelled or failed pass
  pass_ = options;
  forget_gates();
  arena_.recycle();
  uploads_.recycle();
  scores_.recycle();
  scored_ = {};
}

void VulkanBackend::finish() {
  pass_.cancel = nullptr;
  commands_.finish();
  pipelines_.save();
}

void VulkanBackend::release_caches() {
  if (commands_.busy()) commands_.finish();
  arena_.release();
  uploads_.release();
  scores_.release();
  scored_ = {};
  row_ = {};
}

void VulkanBackend::cancelled() {
  commands_.abandon();
  throw Cancelled{};
}

Tensor VulkanBackend::upload(const void* from, size_t bytes) {
  const Tensor to = uploads_.take(1, static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float)));
  std::memcpy(to.buffer->host() + to.offset * sizeof(float), from, bytes);
  return to;
}

BufferPtr VulkanBackend::allocate(size_t bytes) {
  VulkanBufferPtr buffer = device_->allocate(bytes, Device::Place::device);
  clear(*buffer);
  return buffer;
}

// Mapped memory the CPU moves itself, once nothing is running; the rest goes through the staging buffer.
void VulkanBackend::place(VulkanBuffer& to, size_t offset, const void* from, size_t bytes) {
  if (to.mapped) std::memcpy(to.mapped + offset, from, bytes);
  else staging_.write(to, offset, from, bytes);
}

void VulkanBackend::write(Buffer& to, size_t offset, const void* from, size_t bytes) {
  assert(offset + bytes <= to.bytes());
  if (commands_.busy()) commands_.finish();
  place(vulkan_buffer(to), offset, from, bytes);
  staging_.flush();
}

void VulkanBackend::read(void* to, Buffer& from, size_t offset, size_t bytes) {
  assert(offset + bytes <= from.bytes());
  VulkanBuffer& source = vulkan_buffer(from);
  if (!source.mapped) {
    staging_.read(to, source, offset, bytes);
    return;
  }
  if (commands_.busy()) commands_.finish();
  std::memcpy(to, source.mapped + offset, bytes);
}

void VulkanBackend::read(float* to, const Tensor& from) {
  if (from.rows == 0) return;
  const auto row = static_cast<size_t>(from.cols), step = static_cast<size_t>(from.stride);
  const size_t floats = static_cast<size_t>(from.rows - 1) * step + row;
  if (from.contiguous()) {
    read(to, *from.buffer, from.offset * sizeof(float), floats * sizeof(float));
    return;
  }
  std::vector<float> all(floats);
  read(all.data(), *from.buffer, from.offset * sizeof(float), floats * sizeof(float));
  for (size_t i = 0; i < static_cast<size_t>(from.rows); ++i) std::copy_n(all.data() + i * step, row, to + i * row);
}

// Inside a pass, a copy is recorded in order with the ops.
void VulkanBackend::copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) {
  assert(to_offset + bytes <= to.bytes() && from_offset + bytes <= from.bytes());
  VulkanBuffer &target = vulkan_buffer(to), &source = vulkan_buffer(from);
  if (!commands_.busy() && target.mapped && source.mapped) {
    std::memmove(target.mapped + to_offset, source.mapped + from_offset, bytes);
    return;
  }
  const bool inside = commands_.busy();
  commands_.copy(target, to_offset, source, from_offset, bytes);
  if (!inside) commands_.finish();
}

void VulkanBackend::clear(Buffer& buffer) {
  VulkanBuffer& target = vulkan_buffer(buffer);
  if (!commands_.busy() && target.mapped) {
    std::memset(target.mapped, 0, target.bytes());
    return;
  }
  const bool inside = commands_.busy();
  commands_.clear(target);
  if (!inside) commands_.finish();
}

}  // namespace longhand::vulkan

namespace longhand {

Creation create_vulkan(int device_index) {
  const vulkan::Probe& probe = vulkan::probe();
  if (!probe.reason.empty()) return {nullptr, probe.reason};
  const auto index = static_cast<size_t>(device_index);
  if (device_index < 0 || index >= probe.devices.size())
    return {nullptr, "there is no Vulkan device " + std::to_string(device_index) + ", this computer has " +
                         std::to_string(probe.devices.size())};
  if (!probe.devices[index].empty()) return {nullptr, probe.devices[index]};
  std::string reason;
  std::shared_ptr<vulkan::Device> device = vulkan::Device::open(device_index, reason);
  if (!device) return {nullptr, reason};
  return {std::make_unique<vulkan::VulkanBackend>(std::move(device)), ""};
}

int count_vulkan() { return static_cast<int>(vulkan::probe().devices.size()); }

}  // namespace longhand
