#include "vulkan/device/arena.h"

#include <algorithm>
#include <cassert>

namespace longhand::vulkan {

Tensor Arena::take(int64_t rows, int64_t cols) {
  assert(rows >= 0 && cols >= 0);
  constexpr size_t line = 256;  // the largest alignment a device may ask of a binding
  const size_t bytes = (static_cast<size_t>(rows * cols) * sizeof(float) + line - 1) / line * line;
  if (chunks_.empty() || used_ + bytes > chunks_.back()->bytes()) {
    chunks_.push_back(device_->allocate(std::max({bytes, first_chunk_, total_}), place_));
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
    chunks_.push_back(device_->allocate(total_, place_));
  }
  used_ = 0;
  total_ = 0;
}

void Arena::release() {
  chunks_.clear();
  used_ = 0;
  total_ = 0;
}

}  // namespace longhand::vulkan
