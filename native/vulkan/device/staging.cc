#include "vulkan/device/staging.h"

#include <algorithm>
#include <cstring>

namespace longhand::vulkan {

namespace {
constexpr size_t half_bytes = size_t{8} << 20;
}

// The half to fill now, once the GPU has finished with it.
VulkanBuffer& Staging::half() {
  Half& half = halves_[current_];
  if (!half.buffer) half.buffer = device_->allocate(half_bytes, Device::Place::host);
  commands_.wait(half.mark);
  return *half.buffer;
}

void Staging::write(VulkanBuffer& to, size_t offset, const void* from, size_t bytes) {
  const auto* next = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const bool follows = target_ == &to && target_offset_ + gathered_ == offset && gathered_ < half_bytes;
    if (!follows) {
      send();
      target_ = &to;
      target_offset_ = offset;
    }
    const size_t count = std::min(bytes, half_bytes - gathered_);
    std::memcpy(half().mapped + gathered_, next, count);
    gathered_ += count;
    next += count;
    offset += count;
    bytes -= count;
  }
}

void Staging::send() {
  if (gathered_ > 0) {
    commands_.copy(*target_, target_offset_, half(), 0, gathered_);
    halves_[current_].mark = commands_.submit();
    current_ = (current_ + 1) % halves_.size();
  }
  target_ = nullptr;
  gathered_ = 0;
}

void Staging::flush() {
  send();
  commands_.finish();
}

void Staging::drop() noexcept {
  commands_.abandon();
  target_ = nullptr;
  gathered_ = 0;
}

void Staging::read(void* to, VulkanBuffer& from, size_t offset, size_t bytes) {
  send();
  auto* next = static_cast<std::byte*>(to);
  for (size_t done = 0; done < bytes;) {
    const size_t count = std::min(bytes - done, half_bytes);
    commands_.copy(half(), 0, from, offset + done, count);
    commands_.finish();
    std::memcpy(next + done, half().mapped, count);
    done += count;
  }
}

}  // namespace longhand::vulkan
