// The context of a forward pass: the back end, the memory of the layers, and the positions of the tokens in their
// timelines.
#pragma once

#include <numeric>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "ops/backend.h"

namespace longhand {

// The memory of one layer: at most one of each kind.
using LayerMemory = std::vector<Memory>;

// Tokens [first, first + count) of a timeline. `total` is the length that the running prefill will reach (first + count
// when decoding). Within and after a picture positions differ from indices: one per token, or [3, count] (axes t, h,
// w).
struct Segment {
  std::span<LayerMemory> memory;
  int64_t first = 0, count = 0, total = 0;
  std::vector<int32_t> positions{};  // empty: positions equal indices
};

class Pass {
 public:
  Pass(Backend& backend, Segment segment)
      : first_(segment.first),
        count_(segment.count),
        total_(segment.total),
        backend_(backend),
        memory_(segment.memory),
        positions_(std::move(segment.positions)) {
    if (!positions_.empty()) return;
    positions_.resize(static_cast<size_t>(count_));
    std::iota(positions_.begin(), positions_.end(), static_cast<int32_t>(first_));
  }
  // The next token of each of several timelines, concatenated. They are text, so each has one position.
  Pass(Backend& backend, std::span<const Segment> segments)
      : first_(0), count_(0), total_(0), backend_(backend), memory_({}) {
    for (const Segment& segment : segments) {
      const Pass& part = timelines_.emplace_back(backend, segment);
      positions_.insert(positions_.end(), part.positions_.begin(), part.positions_.end());
      count_ += part.count_;
    }
  }
  // Concatenated texts of `lengths` tokens that an encoder reads in one pass; positions start anew in each.
  Pass(Backend& backend, std::span<const int32_t> lengths)
      : first_(0), count_(0), total_(0), backend_(backend), memory_({}), lengths_(lengths.begin(), lengths.end()) {
    for (const int32_t length : lengths)
      for (int32_t position = 0; position < length; ++position) positions_.push_back(position);
    total_ = count_ = static_cast<int64_t>(positions_.size());
  }

  Backend* operator->() const { return &backend_; }
  std::span<const int32_t> positions() const { return positions_; }
  // Tokens of each text; a timeline counts as one text.
  std::vector<int32_t> lengths() const {
    return lengths_.empty() ? std::vector<int32_t>{static_cast<int32_t>(count())} : lengths_;
  }
  int64_t count() const { return count_; }
  // Only for a pass over one timeline.
  int64_t first() const { return first_; }
  int64_t total() const { return total_; }

  // A pass over each timeline; none if this one is over a single timeline.
  std::span<const Pass> timelines() const { return timelines_; }

  // Runs an op that uses memory once per timeline: op(pass over it, its rows of p) returns as many rows. All other ops
  // run on the rows of all timelines together, and no row's result depends on the others.
  template <class Op>
  Tensor by_timeline(Tensor p, const Op& op) const {
    if (timelines_.empty()) return op(*this, p);
    return backend_.stack(each_timeline(p, op));
  }
  // Two ops after one another, the first for all timelines before the second for any: a device then waits once between
  // them, not once per timeline. The second gets the rows that the first returned.
  template <class First, class Second>
  Tensor by_timeline(Tensor p, const First& first, const Second& second) const {
    if (timelines_.empty()) return second(*this, first(*this, p));
    std::vector<Tensor> results = each_timeline(p, first);
    for (size_t i = 0; i < results.size(); ++i) results[i] = second(timelines_[i], results[i]);
    return backend_.stack(results);
  }

  template <class Kind>
  Kind& memory(size_t layer) const {
    if (memory_.empty()) throw std::logic_error("[pass] memory belongs to one timeline: see by_timeline");
    for (Memory& part : memory_[layer]) {
      if (Kind* kind = std::get_if<Kind>(&part)) return *kind;
    }
    throw std::logic_error("[pass] a layer asks for memory that its family has not declared");
  }

 private:
  template <class Op>
  std::vector<Tensor> each_timeline(Tensor p, const Op& op) const {
    std::vector<Tensor> results;
    int64_t row = 0;
    for (const Pass& timeline : timelines_) {
      results.push_back(op(timeline, p.row_range(row, timeline.count())));
      row += timeline.count();
    }
    return results;
  }

  int64_t first_, count_, total_;
  Backend& backend_;
  std::span<LayerMemory> memory_;
  std::vector<int32_t> positions_, lengths_;
  std::vector<Pass> timelines_;  // set if the pass is over several timelines
};

}  // namespace longhand
