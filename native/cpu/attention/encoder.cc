// Attention of an encoder or a vision tower: every row sees every row of its text. The keys of a head are transposed
// once for all rows, 64 of which share each run of keys and values. The fast path multiplies in bf16 where the
// instruction set does.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"
#include "cpu/weights/floats.h"

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

// `count` rows by `stride`, times `scale` and rounded, to pairs of columns [pairs][width] with zeros behind the last
// row and column.
void pair_columns(const Kernels& kernels, const float* rows, int64_t stride, int64_t count, int64_t dim, float scale,
                  int64_t width, uint32_t* to) {
  const int64_t pairs = (dim + 1) / 2;
  thread_local std::vector<float> scaled;
  thread_local std::vector<uint16_t> halves;
  scaled.resize(static_cast<size_t>(dim));
  halves.assign(static_cast<size_t>(2 * pairs), 0);
  std::fill_n(to, pairs * width, 0u);
  for (int64_t j = 0; j < count; ++j) {
    std::transform(rows + j * stride, rows + j * stride + dim, scaled.data(), [&](float x) { return x * scale; });
    kernels.round_bf16(scaled.data(), dim, halves.data());
    for (int64_t i = 0; i < pairs; ++i) to[i * width + j] = pair_of(halves.data()[2 * i], halves.data()[2 * i + 1]);
  }
}

// `count` rows by `stride`, rounded, to pairs of rows [(count + 1) / 2][dim] with zeros behind the last row.
void pair_rows(const Kernels& kernels, const float* rows, int64_t stride, int64_t count, int64_t dim, uint32_t* to) {
  thread_local std::vector<uint16_t> halves;
  halves.resize(static_cast<size_t>(2 * dim));
  uint16_t *first = halves.data(), *second = first + dim;
  for (int64_t j = 0; j < count; j += 2) {
    kernels.round_bf16(rows + j * stride, dim, first);
    if (j + 1 < count) kernels.round_bf16(rows + (j + 1) * stride, dim, second);
    else std::fill_n(second, dim, uint16_t{0});
    for (int64_t i = 0; i < dim; ++i) to[j / 2 * dim + i] = pair_of(first[i], second[i]);
  }
}

}  // namespace

Tensor CpuBackend::attend_whole_rounded(Tensor p, const Attention& shape, std::span<const int32_t> lengths) {
  const auto [query, kv, dim] = shape.heads;
  const std::vector<Tile> tiles = cut(lengths);
  const int64_t group = query / kv, count = static_cast<int64_t>(tiles.size()), pairs = (dim + 1) / 2;
  const int64_t first_key = query * dim, first_value = first_key + kv * dim, width = dim;
  const float scale = shape.scale * std::numbers::log2e_v<float>;  // weights are powers of two
  const Tensor o = scratch(p.rows, query * dim);
  const Tensor keys = scratch(kv * count, pairs * turned_keys), values = scratch(kv * count, turned_keys / 2 * dim);
  const auto words = [](const Tensor& of, int64_t block) { return reinterpret_cast<uint32_t*>(row(of, block)); };
  parallel(kv * count, [&](int64_t item) {
    const Tile& tile = tiles[static_cast<size_t>(item % count)];
    const float* from = row(p, tile.first) + item / count * width;
    pair_columns(kernels_, from + first_key, p.stride, tile.rows, width, 1.0f, turned_keys, words(keys, item));
    pair_rows(kernels_, from + first_value, p.stride, tile.rows, width, words(values, item));
  });
  parallel(query * count, [&](int64_t item) {
    const auto [first, rows, text, length, first_block] = tiles[static_cast<size_t>(item % count)];
    const int64_t h = item / count, block = h / group * count + first_block;
    thread_local std::vector<uint32_t> queries;
    thread_local std::vector<float> seen;
    queries.resize(static_cast<size_t>(pairs * rounded_rows));
    seen.resize(static_cast<size_t>(width * rounded_rows));
    for (int64_t from = 0; from < rows; from += rounded_rows) {
      const int64_t some = std::min(rounded_rows, rows - from);
      pair_columns(kernels_, row(p, first + from) + h * width, p.stride, some, width, scale, rounded_rows,
                   queries.data());
      kernels_.attend_whole_rounded(
          {queries.data(), words(keys, block), words(values, block), width, length, seen.data()});
      for (int64_t r = 0; r < some; ++r)
        for (int64_t i = 0; i < width; ++i) (row(o, first + from + r) + h * width)[i] = seen[i * rounded_rows + r];
    }
  });
  return o;
}

Tensor CpuBackend::attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) {
  const auto [query, kv, dim] = shape.heads;
  assert(p.cols == (query + 2 * kv) * dim);
  if (pass_.path == Path::fast && kernels_.attend_whole_rounded) return attend_whole_rounded(p, shape, lengths);
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
