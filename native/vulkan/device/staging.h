// Copies bytes between the CPU and memory that only the GPU can reach, through a ring of two mapped buffers: one is
// filled while the GPU copies out of the other. Writes to neighbouring bytes are gathered and sent together.
#pragma once

#include <array>

#include "vulkan/device/commands.h"

namespace longhand::vulkan {

class Staging {
 public:
  Staging(std::shared_ptr<Device> device, Commands& commands) : device_(std::move(device)), commands_(commands) {}

  // `to` must last until flush() or drop().
  void write(VulkanBuffer& to, size_t offset, const void* from, size_t bytes);
  // Reads what the commands recorded before it leave there, in the same submission.
  void read(void* to, VulkanBuffer& from, size_t offset, size_t bytes);
  // Sends the gathered writes; returns when all have arrived.
  void flush();
  // Drops the gathered writes once nothing is in flight (a load that failed).
  void drop() noexcept;

 private:
  struct Half {
    VulkanBufferPtr buffer;
    uint64_t mark = 0;  // when the GPU is done with it
  };
  VulkanBuffer& half();
  void send();

  std::shared_ptr<Device> device_;
  Commands& commands_;
  std::array<Half, 2> halves_;
  size_t current_ = 0;
  VulkanBuffer* target_ = nullptr;  // of the gathered bytes
  size_t target_offset_ = 0, gathered_ = 0;
};

}  // namespace longhand::vulkan
