// Activations of one pass: bump allocation in chunks. `recycle` forgets everything and merges the chunks of the last
// pass into one, so that a steady state allocates nothing.
#pragma once

#include <vector>

#include "vulkan/device/buffer.h"

namespace longhand::vulkan {

class Arena {
 public:
  Arena(std::shared_ptr<Device> device, Device::Place place, size_t first_chunk)
      : device_(std::move(device)), place_(place), first_chunk_(first_chunk) {}
  Tensor take(int64_t rows, int64_t cols);
  void recycle();
  // Forgets everything and frees the memory. Not while the GPU uses it.
  void release();

 private:
  std::shared_ptr<Device> device_;
  Device::Place place_;
  size_t first_chunk_;
  std::vector<VulkanBufferPtr> chunks_;
  size_t used_ = 0;   // bytes of the last chunk
  size_t total_ = 0;  // bytes asked for in this pass
};

}  // namespace longhand::vulkan
