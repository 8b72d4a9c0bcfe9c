#include "vulkan/staging.h"

#include <algorithm>
#include <cstring>

namespace longhand::vulkan {

namespace {
constexpr size_t staged_bytes = size_t{16} << 20;
}

VulkanBuffer& Staging::buffer() {
  if (!buffer_) buffer_ = device_->allocate(staged_bytes, Device::Place::host);
  return *buffer_;
}

void Staging::write(VulkanBuffer& to, size_t offset, const void* from, size_t bytes) {
  const auto* next = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const bool follows = target_ == &to && target_offset_ + gathered_ == offset && gathered_ < staged_bytes;
    if (!follows) {
      flush();
      target_ = &to;
      target_offset_ = offset;
    }
    const size_t count = std::min(bytes, staged_bytes - gathered_);
    std::memcpy(buffer().mapped + gathered_, next, count);
    gathered_ += count;
    next += count;
    offset += count;
    bytes -= count;
  }
}

void Staging::flush() {
  if (gathered_ > 0) {
    commands_.copy(*target_, target_offset_, buffer(), 0, gathered_);
    commands_.finish();
  }
  target_ = nullptr;
  gathered_ = 0;
}

void Staging::read(void* to, VulkanBuffer& from, size_t offset, size_t bytes) {
  flush();
  auto* next = static_cast<std::byte*>(to);
  for (size_t done = 0; done < bytes;) {
    const size_t count = std::min(bytes - done, staged_bytes);
    commands_.copy(buffer(), 0, from, offset + done, count);
    commands_.finish();
    std::memcpy(next + done, buffer().mapped, count);
    done += count;
  }
}

}  // namespace longhand::vulkan
