// Host memory: buffers that live as long as their owner, and the arena whose tensors live for one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/tensor.h"

namespace longhand::cpu {

// `huge` for what is read from end to end (weights, activations); `small` for what fills up slowly (caches), where a
// huge page would cost memory that nobody uses.
enum class Pages : uint8_t { small, huge };

// Every buffer of this back end, zeroed: large ones by the kernel when first touched, small ones at once, aligned to a
// cache line. Throws OutOfMemory "[memory] ...".
class HostBuffer final : public Buffer {
 public:
  HostBuffer(size_t bytes, Pages pages);
  ~HostBuffer() override;
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return memory_; }

 private:
  size_t bytes_;
  std::byte* memory_ = nullptr;
  std::byte* mapping_ = nullptr;  // when it was mapped
  size_t mapping_bytes_ = 0;
};

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
