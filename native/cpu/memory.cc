#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "cpu/backend.h"
#include "formats/error.h"

namespace longhand::cpu {
namespace {

constexpr size_t cache_line = 64;
constexpr size_t huge_page = size_t{2} << 20;
constexpr size_t first_chunk = size_t{1} << 20;

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(size_t bytes) : bytes_(bytes) {
    const size_t alignment = bytes >= huge_page ? huge_page : cache_line;
    const size_t rounded = (std::max(bytes, size_t{1}) + alignment - 1) / alignment * alignment;
    if (rounded >= bytes) memory_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
    if (!memory_) throw OutOfMemory("[memory] " + std::to_string(bytes) + " bytes cannot be allocated");
#if defined(__linux__)
    if (alignment == huge_page) madvise(memory_, rounded, MADV_HUGEPAGE);
#endif
  }
  ~HostBuffer() override { std::free(memory_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return memory_; }

 private:
  size_t bytes_;
  std::byte* memory_ = nullptr;
};

}  // namespace

BufferPtr allocate_buffer(size_t bytes) {
  auto buffer = std::make_shared<HostBuffer>(bytes);
  std::memset(buffer->host(), 0, bytes);
  return buffer;
}

Tensor Arena::take(int64_t rows, int64_t cols) {
  assert(rows >= 0 && cols >= 0);
  const size_t bytes = (static_cast<size_t>(rows * cols) * sizeof(float) + cache_line - 1) / cache_line * cache_line;
  if (chunks_.empty() || used_ + bytes > chunks_.back()->bytes()) {
    chunks_.push_back(std::make_shared<HostBuffer>(std::max({bytes, first_chunk, total_})));
    used_ = 0;
  }
  const Tensor tensor{chunks_.back().get(), used_ / sizeof(float), rows, cols, cols};
  used_ += bytes;
  total_ += bytes;
  return tensor;
}

void Arena::recycle() {
  if (chunks_.size() > 1) {
    chunks_.clear();
    chunks_.push_back(std::make_shared<HostBuffer>(total_));
  }
  used_ = 0;
  total_ = 0;
}

BufferPtr CpuBackend::allocate(size_t bytes) { return allocate_buffer(bytes); }

void CpuBackend::copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) {
  assert(to_offset + bytes <= to.bytes() && from_offset + bytes <= from.bytes());
  std::memmove(to.host() + to_offset, from.host() + from_offset, bytes);
}

void CpuBackend::write(Buffer& to, size_t offset, const void* from, size_t bytes) {
  assert(offset + bytes <= to.bytes());
  std::memcpy(to.host() + offset, from, bytes);
}

void CpuBackend::read(void* to, Buffer& from, size_t offset, size_t bytes) {
  assert(offset + bytes <= from.bytes());
  std::memcpy(to, from.host() + offset, bytes);
}

void CpuBackend::clear(Buffer& buffer) { std::memset(buffer.host(), 0, buffer.bytes()); }

}  // namespace longhand::cpu
