// Attention of an encoder: every row sees every row of its text. Sixteen query rows of a head share each run of keys
// and values.
#include <algorithm>
#include <limits>
#include <vector>

#include "cpu/backend.h"

namespace longhand::cpu {

namespace {

constexpr int64_t tile_rows = 16;

// Rows [first, first + rows) of p, which belong to the text of rows [text, text + length).
struct Tile {
  int64_t first, rows, text, length;
};

std::vector<Tile> cut(std::span<const int32_t> lengths) {
  std::vector<Tile> tiles;
  int64_t text = 0;
  for (const int64_t length : lengths) {
    for (int64_t row = 0; row < length; row += tile_rows)
      tiles.push_back({text + row, std::min(tile_rows, length - row), text, length});
    text += length;
  }
  return tiles;
}

}  // namespace

Tensor CpuBackend::attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) {
  const auto [query, kv, dim] = shape.heads;
  assert(p.cols == (query + 2 * kv) * dim);
  const std::vector<Tile> tiles = cut(lengths);
  const int64_t group = query / kv, count = static_cast<int64_t>(tiles.size());
  const int64_t first_key = query * dim, first_value = first_key + kv * dim, width = dim;
  const Tensor o = scratch(p.rows, query * dim);
  parallel(query * count, [&](int64_t item) {
    const auto [first, rows, text, length] = tiles[static_cast<size_t>(item % count)];
    const int64_t h = item / count, at = h / group * width;
    int64_t limit[tile_rows];
    std::fill_n(limit, tile_rows, length);
    thread_local std::vector<float> queries, sums;
    queries.resize(static_cast<size_t>(rows * width));
    sums.assign(static_cast<size_t>(rows * width), 0.0f);
    float peak[tile_rows], total[tile_rows] = {};
    std::fill_n(peak, tile_rows, -std::numeric_limits<float>::infinity());
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = row(p, first + r) + h * width;
      std::transform(from, from + width, queries.data() + r * width, [&](float x) { return x * shape.scale; });
    }
    const auto* keys = reinterpret_cast<const std::byte*>(row(p, text) + first_key + at);
    const auto* values = reinterpret_cast<const std::byte*>(row(p, text) + first_value + at);
    kernels_.attend(
        {queries.data(), 1, rows, width, keys, values, false, p.stride, 0, length, limit, sums.data(), peak, total});
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = sums.data() + r * width;
      std::transform(from, from + width, row(o, first + r) + h * width, [&](float x) { return x / total[r]; });
    }
  });
  return o;
}

}  // namespace longhand::cpu
