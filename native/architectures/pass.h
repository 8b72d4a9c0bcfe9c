// What a forward pass works with: the back end, what the layers remember, and where in the timeline the tokens stand.
#pragma once

#include <numeric>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "ops/backend.h"

namespace longhand {

// The live memory of one layer: at most one of each kind.
using LayerMemory = std::vector<Memory>;

class Pass {
 public:
  // Tokens [first, first + count) of a timeline. `total` is the length that the running prefill will reach (first +
  // count when decoding).
  Pass(Backend& backend, std::span<LayerMemory> memory, int64_t first, int64_t count, int64_t total)
      : first_(first),
        count_(count),
        total_(total),
        backend_(backend),
        memory_(memory),
        positions_(static_cast<size_t>(count)) {
    std::iota(positions_.begin(), positions_.end(), static_cast<int32_t>(first));
  }
  // The same behind or within a picture, where positions are not indices: one a token, or three (axes t, h, w).
  Pass(Backend& backend, std::span<LayerMemory> memory, int64_t first, int64_t count, int64_t total,
       std::vector<int32_t> positions)
      : first_(first),
        count_(count),
        total_(total),
        backend_(backend),
        memory_(memory),
        positions_(std::move(positions)) {}
  // Texts of `lengths` tokens one after the other, that an encoder reads side by side: each has positions of its own.
  Pass(Backend& backend, std::span<const int32_t> lengths)
      : first_(0), count_(0), total_(0), backend_(backend), memory_({}), lengths_(lengths.begin(), lengths.end()) {
    for (const int32_t length : lengths)
      for (int32_t position = 0; position < length; ++position) positions_.push_back(position);
    total_ = count_ = static_cast<int64_t>(positions_.size());
  }

  Backend* operator->() const { return &backend_; }
  std::span<const int32_t> positions() const { return positions_; }
  // Tokens of each text: of a timeline all of them.
  std::vector<int32_t> lengths() const {
    return lengths_.empty() ? std::vector<int32_t>{static_cast<int32_t>(count())} : lengths_;
  }
  int64_t first() const { return first_; }
  int64_t count() const { return count_; }
  int64_t total() const { return total_; }
  bool decoding() const { return count() == 1 && total_ == first_ + 1 && first_ > 0; }

  template <class Kind>
  Kind& memory(size_t layer) const {
    for (Memory& part : memory_[layer]) {
      if (Kind* kind = std::get_if<Kind>(&part)) return *kind;
    }
    throw std::logic_error("[pass] a layer asks for memory that its family has not declared");
  }

 private:
  int64_t first_, count_, total_;
  Backend& backend_;
  std::span<LayerMemory> memory_;
  std::vector<int32_t> positions_, lengths_;
};

}  // namespace longhand
