// Host memory: buffers that live as long as their owner, and the arena whose tensors live for one pass.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/tensor.h"

namespace longhand::cpu {

// `huge` for memory read from end to end (weights, activations); `small` for memory that fills up slowly (caches),
// where huge pages would waste memory. `none` has a size and no memory.
enum class Pages : uint8_t { small, huge, none };

// Every buffer of this back end, zeroed: large ones by the kernel when first touched, small ones at once, aligned to a
// cache line at least. Throws OutOfMemory "[memory] ...".
class HostBuffer final : public Buffer {
 public:
  HostBuffer(size_t bytes, Pages pages);
  ~HostBuffer() override;
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return memory_; }

 private:
  // Leave `memory_` null if the system has none.
  void map(size_t bytes);
  void map_aligned(Pages pages);

  size_t bytes_;
  std::byte* memory_ = nullptr;
  std::byte* mapping_ = nullptr;  // when it was mapped
  size_t mapping_bytes_ = 0;
};

// Bump allocation in chunks. `recycle` forgets everything and merges the chunks of the last pass into one, so that a
// steady state allocates nothing.
class Arena {
 public:
  // One chunk of this size before the first pass.
  void reserve(size_t bytes);
  Tensor take(int64_t rows, int64_t cols);
  // Forgets everything but x, which moves to the front unless it stands there already.
  Tensor recycle_except(Tensor x);
  void recycle();
  // Forgets everything and frees the memory; the next pass allocates it again.
  void release();
  // The most bytes in use at any time. Any thread.
  size_t peak_bytes() const { return peak_; }

 private:
  std::vector<std::shared_ptr<HostBuffer>> chunks_;
  size_t current_ = 0;  // the chunk that is being filled
  size_t used_ = 0;     // bytes of it
  size_t before_ = 0;   // bytes used in the chunks before it
  std::atomic<size_t> peak_{0};
};

}  // namespace longhand::cpu
