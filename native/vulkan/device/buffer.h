// Device memory: a VkBuffer with memory of its own, mapped for good where the CPU can reach it.
#pragma once

#include "ops/tensor.h"
#include "vulkan/device/device.h"

namespace longhand::vulkan {

class VulkanBuffer final : public Buffer {
 public:
  VulkanBuffer(std::shared_ptr<Device> device, size_t bytes) : device_(std::move(device)), bytes_(bytes) {}
  ~VulkanBuffer() override {
    device_->call.DestroyBuffer(device_->handle(), handle, nullptr);
    device_->call.FreeMemory(device_->handle(), memory, nullptr);  // unmaps it too
  }
  VulkanBuffer(const VulkanBuffer&) = delete;
  VulkanBuffer& operator=(const VulkanBuffer&) = delete;

  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return mapped; }

  // Filled in by Device::allocate.
  VkBuffer handle{};
  VkDeviceMemory memory{};
  std::byte* mapped = nullptr;
  size_t room = 0;  // bytes of the VkBuffer: kernels read whole words beyond `bytes`

 private:
  std::shared_ptr<Device> device_;
  size_t bytes_;
};

inline VulkanBuffer& vulkan_buffer(Buffer& buffer) { return static_cast<VulkanBuffer&>(buffer); }

}  // namespace longhand::vulkan
