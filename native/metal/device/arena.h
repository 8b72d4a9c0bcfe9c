// Activations of one pass: bump allocation in chunks of shared memory. The plan is made once: `recycle` merges the
// chunks of the last pass into one, so that a steady state allocates nothing, and the layers of a pass lie over one
// another (recycle_except). What the CPU writes while a pass is being encoded has chunks of its own: the GPU may read
// it much later, so no layer may reuse them.
#pragma once

#include <vector>

#include "metal/device/device.h"

namespace longhand::metal {

class Region {
 public:
  explicit Region(Device& device) : device_(device) {}
  Tensor take(int64_t rows, int64_t cols);
  // Later allocations may overlap everything allocated so far except x.
  void recycle_except(const Tensor& x);
  void recycle();
  void release();  // and forgets the plan

 private:
  Device& device_;
  std::vector<MetalBufferPtr> chunks_;
  size_t current_ = 0;  // the chunk that is being filled
  size_t used_ = 0;     // bytes of it
  size_t before_ = 0;   // bytes used in the chunks before it
  size_t peak_ = 0;
  struct {
    const Buffer* buffer = nullptr;
    size_t low = 0, high = 0;  // bytes
  } reserved_;
};

class Arena {
 public:
  explicit Arena(Device& device) : layers_(device), written_(device) {}
  Tensor take(int64_t rows, int64_t cols) { return layers_.take(rows, cols); }
  // For the CPU to write; stays until recycle.
  Tensor written(int64_t floats) { return written_.take(1, floats); }
  void recycle_except(const Tensor& x) { layers_.recycle_except(x); }
  void recycle() {
    layers_.recycle();
    written_.recycle();
  }
  void release() {
    layers_.release();
    written_.release();
  }

 private:
  Region layers_, written_;
};

}  // namespace longhand::metal
