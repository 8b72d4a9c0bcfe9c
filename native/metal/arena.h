// Activations of one pass: bump allocation in chunks of shared memory. `recycle` forgets everything and merges the
// chunks of the last pass into one, so that a steady state allocates nothing.
#pragma once

#include <vector>

#include "metal/device.h"

namespace longhand::metal {

class Arena {
 public:
  explicit Arena(Device& device) : device_(device) {}
  Tensor take(int64_t rows, int64_t cols);
  void recycle();

 private:
  Device& device_;
  std::vector<MetalBufferPtr> chunks_;
  size_t used_ = 0;   // bytes of the last chunk
  size_t total_ = 0;  // bytes asked for in this pass
};

}  // namespace longhand::metal
