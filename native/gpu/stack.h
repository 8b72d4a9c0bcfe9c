// Results of several timelines, put together again.
#pragma once

#include <algorithm>
#include <vector>

#include "gpu/shared_ops.h"

namespace longhand::gpu {

// What holds both, which lie in one buffer.
inline Argument around(const Argument& a, const Argument& b) {
  const size_t begin = std::min(a.offset, b.offset), end = std::max(a.offset + a.bytes, b.offset + b.bytes);
  return {a.buffer, begin, end - begin, a.access};
}

// One dispatch for all parts that lie in one buffer, near enough for a binding: in a steady state all do.
template <class Api>
Tensor SharedOps<Api>::stack(std::span<const Tensor> parts) {
  int64_t rows = 0;
  for (const Tensor& part : parts) rows += part.rows;
  const Tensor y = api().scratch(rows, parts.front().cols);
  for (int64_t done = 0; done < rows;) {
    Argument bound = reads(parts.front());
    size_t count = 0;
    for (; count < parts.size() && parts[count].buffer == bound.buffer; ++count) {
      const Argument both = around(bound, reads(parts[count]));
      if (both.bytes > api().most_bound()) break;
      bound = both;
    }
    done += stack_bound(parts.first(count), bound, y, done);
    parts = parts.subspan(count);
  }
  return y;
}

// Parts within `bound` into the rows of y from `first` on. Returns how many rows they have.
template <class Api>
int64_t SharedOps<Api>::stack_bound(std::span<const Tensor> parts, const Argument& bound, const Tensor& y,
                                    int64_t first) {
  std::vector<uint32_t> places;
  for (const Tensor& part : parts) {
    assert(part.cols == y.cols);
    for (int64_t row = 0; row < part.rows; ++row)
      places.push_back(narrow(static_cast<int64_t>(part.row_range(row, 1).offset - bound.offset / sizeof(float))));
  }
  const auto rows = static_cast<int64_t>(places.size());
  api().run_stack(
      bound, api().upload(places.data(), places.size() * sizeof(uint32_t)), y.row_range(first, rows),
      params::RowsParams{
          .rows = narrow(rows), .cols = narrow(y.cols), .x_stride = 0, .y_stride = narrow(y.stride), .z_stride = 0},
      api().elements(static_cast<size_t>(y.cols), static_cast<size_t>(rows), 64));
  return rows;
}

}  // namespace longhand::gpu
