// Bytes between the CPU and memory that only the GPU reaches, through one mapped buffer. Writes to neighbouring bytes
// are gathered and sent together.
#pragma once

#include "vulkan/commands.h"

namespace longhand::vulkan {

class Staging {
 public:
  Staging(std::shared_ptr<Device> device, Commands& commands) : device_(std::move(device)), commands_(commands) {}

  void write(VulkanBuffer& to, size_t offset, const void* from, size_t bytes);
  void read(void* to, VulkanBuffer& from, size_t offset, size_t bytes);
  // Sends what was gathered; returns when it has arrived.
  void flush();

 private:
  VulkanBuffer& buffer();

  std::shared_ptr<Device> device_;
  Commands& commands_;
  VulkanBufferPtr buffer_;
  VulkanBuffer* target_ = nullptr;  // of the gathered bytes
  size_t target_offset_ = 0, gathered_ = 0;
};

}  // namespace longhand::vulkan
