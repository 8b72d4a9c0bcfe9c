// Attention of an encoder: every row sees every row. Sixteen query rows of a head share each run of keys and values.
#include <algorithm>
#include <limits>
#include <vector>

#include "cpu/backend.h"

namespace longhand::cpu {

Tensor CpuBackend::attention_bidirectional(Tensor p, const Attention& shape) {
  constexpr int64_t tile_rows = 16;
  const auto [query, kv, dim] = shape.heads;
  assert(p.cols == (query + 2 * kv) * dim);
  const int64_t group = query / kv, tiles = (p.rows + tile_rows - 1) / tile_rows;
  const int64_t first_key = query * dim, first_value = first_key + kv * dim, width = dim;
  const std::vector<int64_t> limit(tile_rows, p.rows);
  const Tensor o = scratch(p.rows, query * dim);
  parallel(query * tiles, [&](int64_t item) {
    const int64_t h = item / tiles, first = item % tiles * tile_rows, rows = std::min(tile_rows, p.rows - first);
    const int64_t at = h / group * width;
    thread_local std::vector<float> queries, sums;
    queries.resize(static_cast<size_t>(rows * width));
    sums.assign(static_cast<size_t>(rows * width), 0.0f);
    float peak[tile_rows], total[tile_rows] = {};
    std::fill_n(peak, tile_rows, -std::numeric_limits<float>::infinity());
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = row(p, first + r) + h * width;
      std::transform(from, from + width, queries.data() + r * width, [&](float x) { return x * shape.scale; });
    }
    kernels_.attend({queries.data(), rows, width, row(p, 0) + first_key + at, row(p, 0) + first_value + at, p.stride, 0,
                     p.rows, limit.data(), sums.data(), peak, total});
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = sums.data() + r * width;
      std::transform(from, from + width, row(o, first + r) + h * width, [&](float x) { return x / total[r]; });
    }
  });
  return o;
}

}  // namespace longhand::cpu
