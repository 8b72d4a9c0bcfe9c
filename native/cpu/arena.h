// Host memory: buffers that live as long as their owner, and the arena whose tensors live for one pass.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ops/tensor.h"

namespace longhand::cpu {

// Zeroed, aligned to a cache line (large buffers to a huge page). Throws OutOfMemory "[memory] ...".
BufferPtr allocate_buffer(size_t bytes);

// Bump allocation in chunks. `recycle` forgets everything and merges the chunks of the last pass into one, so that a
// steady state allocates nothing.
class Arena {
 public:
  Tensor take(int64_t rows, int64_t cols);
  void recycle();

 private:
  std::vector<BufferPtr> chunks_;
  size_t used_ = 0;   // bytes of the last chunk
  size_t total_ = 0;  // bytes asked for in this pass
};

}  // namespace longhand::cpu
