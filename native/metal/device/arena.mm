#include "metal/device/arena.h"

#include <algorithm>
#include <cassert>

namespace longhand::metal {

namespace {

constexpr size_t line = 128, first_chunk = size_t{1} << 20;

size_t rounded_up(size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

Tensor Region::take(int64_t rows, int64_t cols) {
  assert(rows >= 0 && cols >= 0);
  const size_t bytes = rounded_up(static_cast<size_t>(rows * cols) * sizeof(float));
  for (;; ++current_) {
    if (current_ == chunks_.size())
      chunks_.push_back(device_.heap_buffer(std::max({bytes, first_chunk, peak_}), "arena"));
    MetalBuffer& chunk = *chunks_[current_];
    size_t at = used_;
    if (reserved_.buffer == &chunk && at < reserved_.high && reserved_.low < at + bytes) at = reserved_.high;
    if (at + bytes <= chunk.bytes()) {
      used_ = at + bytes;
      peak_ = std::max(peak_, before_ + used_);
      return {&chunk, at / sizeof(float), rows, cols, cols};
    }
    before_ += used_;
    used_ = 0;
  }
}

void Region::recycle_except(const Tensor& x) {
  const auto floats = static_cast<size_t>((x.rows - 1) * x.stride + x.cols);
  reserved_ = {x.buffer, x.offset * sizeof(float) / line * line, rounded_up((x.offset + floats) * sizeof(float))};
  current_ = used_ = before_ = 0;
}

void Region::release() {
  chunks_.clear();
  current_ = used_ = before_ = peak_ = 0;
  reserved_ = {};
}

void Region::recycle() {
  if (chunks_.size() > 1) {
    chunks_.clear();
    chunks_.push_back(device_.heap_buffer(peak_, "arena"));
  }
  current_ = used_ = before_ = 0;
  reserved_ = {};
}

}  // namespace longhand::metal
