// Attention of an encoder or a vision tower: every row sees every row of its text. The keys of a head are transposed
// once for all rows, 64 of which share each run of keys and values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"

namespace longhand::cpu {

void scalar::attend_whole(const WholeAttentionTile& tile) {
  const auto key = [&](int64_t j, int64_t i) {
    return tile.keys[(j / turned_keys * tile.dim + i) * turned_keys + j % turned_keys];
  };
  for (int64_t r = 0; r < tile.rows; ++r) {
    const float* q = tile.q + r * tile.dim;
    float* o = tile.o + r * tile.dim;
    for (int64_t j = 0; j < tile.count; ++j) {
      float score = 0;
      for (int64_t i = 0; i < tile.dim; ++i) score += q[i] * key(j, i);
      const float peak = std::max(score, tile.peak[r]);
      const float fade = std::exp(tile.peak[r] - peak), weight = std::exp(score - peak);
      tile.peak[r] = peak;
      tile.sum[r] = tile.sum[r] * fade + weight;
      for (int64_t i = 0; i < tile.dim; ++i) o[i] = o[i] * fade + weight * tile.values[j * tile.value_stride + i];
    }
  }
}

namespace {

// Rows [first, first + rows) of p, which belong to the text of rows [text, text + length), whose first block of turned
// keys is number `block`.
struct Tile {
  int64_t first, rows, text, length, block;
};

std::vector<Tile> cut(std::span<const int32_t> lengths) {
  std::vector<Tile> tiles;
  int64_t text = 0, block = 0;
  for (const int64_t length : lengths) {
    for (int64_t row = 0; row < length; row += whole_rows)
      tiles.push_back({text + row, std::min(whole_rows, length - row), text, length, block});
    text += length;
    block += (length + turned_keys - 1) / turned_keys;
  }
  return tiles;
}

// `count` keys, at most turned_keys, to [dim][turned_keys].
void turn(const float* keys, int64_t stride, int64_t count, int64_t dim, float* to) {
  for (int64_t i = 0; i < dim; ++i) {
    for (int64_t j = 0; j < count; ++j) to[i * turned_keys + j] = keys[j * stride + i];
    std::fill(to + i * turned_keys + count, to + (i + 1) * turned_keys, 0.0f);
  }
}

}  // namespace

Tensor CpuBackend::attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) {
  const auto [query, kv, dim] = shape.heads;
  assert(p.cols == (query + 2 * kv) * dim);
  const std::vector<Tile> tiles = cut(lengths);
  const int64_t group = query / kv, count = static_cast<int64_t>(tiles.size());
  const int64_t first_key = query * dim, first_value = first_key + kv * dim, width = dim;
  static_assert(turned_keys == whole_rows);  // so that a tile of rows is a block of keys
  const Tensor o = scratch(p.rows, query * dim), turned = scratch(kv * count * turned_keys, dim);
  const auto block = [&](int64_t head, int64_t index) { return row(turned, (head * count + index) * turned_keys); };
  parallel(kv * count, [&](int64_t item) {
    const Tile& tile = tiles[static_cast<size_t>(item % count)];
    const int64_t head = item / count;
    turn(row(p, tile.first) + first_key + head * width, p.stride, tile.rows, width, block(head, item % count));
  });
  parallel(query * count, [&](int64_t item) {
    const auto [first, rows, text, length, first_block] = tiles[static_cast<size_t>(item % count)];
    const int64_t h = item / count, head = h / group;
    thread_local std::vector<float> queries, sums;
    queries.resize(static_cast<size_t>(rows * width));
    sums.assign(static_cast<size_t>(rows * width), 0.0f);
    float peak[whole_rows], total[whole_rows] = {};
    std::fill_n(peak, whole_rows, -std::numeric_limits<float>::infinity());
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = row(p, first + r) + h * width;
      std::transform(from, from + width, queries.data() + r * width, [&](float x) { return x * shape.scale; });
    }
    kernels_.attend_whole({queries.data(), rows, width, block(head, first_block),
                           row(p, text) + first_value + head * width, p.stride, length, sums.data(), peak, total});
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = sums.data() + r * width;
      std::transform(from, from + width, row(o, first + r) + h * width, [&](float x) { return x / total[r]; });
    }
  });
  return o;
}

}  // namespace longhand::cpu
