#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/mman.h>

#include "cpu/backend.h"
#include "formats/error.h"

namespace longhand::cpu {
namespace {

constexpr size_t cache_line = 64;
constexpr size_t huge_page = size_t{2} << 20, small_page = size_t{4} << 10;
// Buffers of sessions come and go by the hundred: from the allocator they would leave holes that it keeps, while a
// mapping goes back to the system at once.
constexpr size_t mapped_from = size_t{128} << 10;
constexpr size_t first_chunk = size_t{1} << 20;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

HostBuffer::HostBuffer(size_t bytes, Pages pages) : bytes_(bytes) {
  if (pages == Pages::none) return;
  if (bytes >= huge_page) map_aligned(pages);
  else if (bytes >= mapped_from) map(rounded_up(bytes, small_page));
  if (!memory_ && bytes < huge_page) {
    memory_ =
        static_cast<std::byte*>(std::aligned_alloc(cache_line, rounded_up(std::max(bytes, size_t{1}), cache_line)));
    if (memory_) std::memset(memory_, 0, bytes);
  }
  if (!memory_) throw OutOfMemory("[memory] " + std::to_string(bytes) + " bytes cannot be allocated");
}

void HostBuffer::map(size_t bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return;
  mapping_ = memory_ = static_cast<std::byte*>(mapped);
  mapping_bytes_ = bytes;
}

void HostBuffer::map_aligned(Pages pages) {
  const size_t with_slack = rounded_up(bytes_, huge_page) + huge_page;
  if (with_slack < bytes_) return;
  map(with_slack);
  if (!mapping_) return;
  memory_ = mapping_ + (huge_page - reinterpret_cast<uintptr_t>(mapping_) % huge_page) % huge_page;
#if defined(MADV_HUGEPAGE)
  // The tail that does not fill a huge page uses small pages: a model has hundreds of buffers, each would waste 1 MB.
  madvise(memory_, pages == Pages::huge ? bytes_ / huge_page * huge_page : bytes_,
          pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
  static_cast<void>(pages);
#endif
}

HostBuffer::~HostBuffer() {
  if (mapping_) munmap(mapping_, mapping_bytes_);
  else std::free(memory_);
}

void Arena::reserve(size_t bytes) {
  if (chunks_.empty()) chunks_.push_back(std::make_shared<HostBuffer>(bytes, Pages::huge));
}

Tensor Arena::take(int64_t rows, int64_t cols) {
  assert(rows >= 0 && cols >= 0);
  const size_t bytes = rounded_up(static_cast<size_t>(rows * cols) * sizeof(float), cache_line);
  for (; current_ < chunks_.size() && used_ + bytes > chunks_[current_]->bytes(); ++current_) {
    before_ += used_;
    used_ = 0;
  }
  if (current_ == chunks_.size())
    chunks_.push_back(std::make_shared<HostBuffer>(std::max({bytes, first_chunk, peak_.load()}), Pages::huge));
  const Tensor tensor{chunks_[current_].get(), used_ / sizeof(float), rows, cols, cols};
  used_ += bytes;
  peak_ = std::max(peak_.load(), before_ + used_);
  return tensor;
}

Tensor Arena::recycle_except(Tensor x) {
  const auto rows = static_cast<size_t>(x.rows);
  const size_t row_bytes = static_cast<size_t>(x.cols) * sizeof(float);
  if (chunks_.empty() || !x.contiguous() || rows * row_bytes > chunks_[0]->bytes()) return x;
  auto* from = static_cast<HostBuffer*>(x.buffer)->host() + x.offset * sizeof(float);
  if (from != chunks_[0]->host()) std::memmove(chunks_[0]->host(), from, rows * row_bytes);
  current_ = before_ = 0;
  used_ = rounded_up(rows * row_bytes, cache_line);
  return {chunks_[0].get(), 0, x.rows, x.cols, x.cols};
}

void Arena::recycle() {
  if (chunks_.size() > 1) {
    chunks_.clear();
    chunks_.push_back(std::make_shared<HostBuffer>(peak_.load(), Pages::huge));
  }
  current_ = used_ = before_ = 0;
}

void Arena::release() {
  chunks_.clear();
  current_ = used_ = before_ = 0;
}

BufferPtr CpuBackend::allocate(size_t bytes) { return std::make_shared<HostBuffer>(bytes, Pages::small); }

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
