// Attention over numbers rounded to bf16 (fast path of some sets): what the kernels compute, and causal attention over
// a cache.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "cpu/attention/cache.h"
#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"
#include "cpu/weights/floats.h"

namespace longhand::cpu {
namespace {

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
float first_of(uint32_t pair) { return flushed(from_bf16(static_cast<uint16_t>(pair))); }
float second_of(uint32_t pair) { return flushed(from_bf16(static_cast<uint16_t>(pair >> 16))); }

// In the order of VDPBF16PS, which takes subnormal numbers for zeros and makes zeros of them.
float add_products(float sum, uint32_t a, uint32_t b) {
  sum = flushed(std::fma(second_of(a), second_of(b), flushed(sum)));
  return flushed(std::fma(first_of(a), first_of(b), sum));
}

// 2^x for x <= 0, by a polynomial for the fraction in [0, 1): relative error below 2^-13, and 1 for 0.
float power_of_two(float x) {
  if (!(x >= -150.0f)) return std::isnan(x) ? x : 0.0f;
  const float whole = std::floor(x), fraction = x - whole;
  float p = std::fma(fraction, 0.0770670399f, 0.227644995f);
  p = std::fma(p, fraction, 0.695116758f);
  p = std::fma(p, fraction, 1.0f);
  return std::ldexp(p, static_cast<int>(whole));
}

uint16_t rounded(float x) {
  uint16_t to;
  scalar::round_bf16(&x, 1, &to);
  return to;
}

}  // namespace

// An online softmax whose weights are rounded before they are added up, so that they stay shares of one.
void scalar::attend_whole_rounded(const RoundedAttentionTile& tile) {
  const int64_t pairs = (tile.dim + 1) / 2;
  for (int64_t r = 0; r < rounded_rows; ++r) {
    float peak = -std::numeric_limits<float>::infinity(), total = 0;
    for (int64_t i = 0; i < tile.dim; ++i) tile.o[i * rounded_rows + r] = 0;
    for (int64_t from = 0; from < tile.count; from += turned_keys) {
      const uint32_t *keys = tile.keys + from * pairs, *values = tile.values + from / 2 * tile.dim;
      const int64_t count = std::min(turned_keys, tile.count - from);
      float scores[turned_keys] = {}, old = peak;
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t i = 0; i < pairs; ++i)
          scores[j] = add_products(scores[j], keys[i * turned_keys + j], tile.q[i * rounded_rows + r]);
        peak = std::max(peak, scores[j]);
      }
      const float fade = power_of_two(old - peak);
      total *= fade;
      for (int64_t i = 0; i < tile.dim; ++i) tile.o[i * rounded_rows + r] *= fade;
      for (int64_t j = 0; j < count; j += 2) {
        const auto weight = [&](int64_t key) {
          return key < count ? rounded(power_of_two(scores[key] - peak)) : uint16_t{0};
        };
        const uint32_t weights = pair_of(weight(j), weight(j + 1));
        total = add_products(total, weights, pair_of(rounded(1.0f), rounded(1.0f)));
        for (int64_t i = 0; i < tile.dim; ++i) {
          float& o = tile.o[i * rounded_rows + r];
          o = add_products(o, values[j / 2 * tile.dim + i], weights);
        }
      }
    }
    for (int64_t i = 0; i < tile.dim; ++i) tile.o[i * rounded_rows + r] /= total;
  }
}

namespace {

// What a tile adds to a sum for 32 products of a(i) and b(i): the even and the odd ones by themselves.
template <class A, class B>
float add_tile(float sum, const A& a, const B& b) {
  float both[2] = {};
  for (int64_t i = 0; i < 32; ++i)
    both[i % 2] = flushed(std::fma(flushed(from_bf16(a(i))), flushed(from_bf16(b(i))), both[i % 2]));
  return flushed(sum + flushed(both[0] + both[1]));
}

constexpr float none = -std::numeric_limits<float>::infinity();

uint16_t half_of(uint32_t pair, int64_t which) { return static_cast<uint16_t>(pair >> (which % 2 * 16)); }

// Products are made of so many keys or dimensions at once; of a block those behind the last key may be left out.
constexpr int64_t keys_a_product = 32;

// One row and one block of keys; add(sum, a, b, n) adds the products of a(i) and b(i) for i < n in the order of the
// set.
template <class Add>
void attend_block(const RoundedCausalTile& tile, int64_t r, int64_t from, const Add& add) {
  const uint16_t *keys = tile.keys + from * tile.width, *values = tile.values + from * tile.width;
  const int64_t count = tile.count - from > keys_a_product ? turned_keys : keys_a_product;
  float scores[turned_keys], peak = tile.peak[r];
  for (int64_t j = 0; j < count; ++j) {
    scores[j] = add(
        0.0f, [&](int64_t i) { return keys[j * tile.width + i]; },
        [&](int64_t i) { return half_of(tile.q[i / 2 * rounded_rows + r], i); }, tile.width);
    if (tile.first + from + j >= tile.limits[r] || from + j >= tile.count) scores[j] = none;
    peak = std::max(peak, scores[j]);
  }
  const float fade = power_of_two(tile.peak[r] - peak);
  tile.peak[r] = peak;
  tile.total[r] *= fade;
  uint16_t weights[turned_keys];
  for (int64_t j = 0; j < count; ++j) weights[j] = rounded(power_of_two(scores[j] - peak));
  for (int64_t j = 0; j < count; j += 2)
    tile.total[r] =
        add_products(tile.total[r], pair_of(weights[j], weights[j + 1]), pair_of(rounded(1.0f), rounded(1.0f)));
  for (int64_t i = 0; i < tile.width; ++i) {
    float& o = tile.o[i * rounded_rows + r];
    o = add(
        o * fade, [&](int64_t j) { return values[i * turned_keys + j]; }, [&](int64_t j) { return weights[j]; }, count);
  }
}

template <class Add>
void attend_causal(const RoundedCausalTile& tile, const Add& add) {
  for (int64_t r = 0; r < rounded_rows; ++r) {
    for (int64_t from = 0; from < tile.count; from += turned_keys) attend_block(tile, r, from, add);
    for (int64_t i = 0; tile.out && i < tile.width; ++i)
      tile.out[r * tile.width + i] = tile.o[i * rounded_rows + r] / tile.total[r];
  }
}

}  // namespace

void scalar::pair_columns(const uint16_t* rows, int64_t width, uint32_t* to) {
  for (int64_t r = 0; r < rounded_rows; ++r)
    for (int64_t i = 0; i < width; i += 2)
      to[i / 2 * rounded_rows + r] = pair_of(rows[r * width + i], rows[r * width + i + 1]);
}

void scalar::turn_values(const uint16_t* rows, int64_t width, uint16_t* to) {
  for (int64_t j = 0; j < turned_keys; ++j)
    for (int64_t i = 0; i < width; ++i) to[i * turned_keys + j] = rows[j * width + i];
}

void scalar::attend_causal_pairs(const RoundedCausalTile& tile) {
  attend_causal(tile, [](float sum, const auto& a, const auto& b, int64_t n) {
    for (int64_t i = 0; i < n; i += 2) sum = add_products(sum, pair_of(a(i), a(i + 1)), pair_of(b(i), b(i + 1)));
    return sum;
  });
}

void scalar::attend_causal_tiles(const RoundedCausalTile& tile) {
  attend_causal(tile, [](float sum, const auto& a, const auto& b, int64_t n) {
    for (int64_t c = 0; c < n; c += 32)
      sum = add_tile(sum, [&](int64_t i) { return a(c + i); }, [&](int64_t i) { return b(c + i); });
    return sum;
  });
}

namespace {

constexpr int64_t keys_a_split = 1024;  // of all heads, rounded and turned at a time

// Keys and values of a split, rounded: a block of one head after the other.
struct RoundedKeys {
  uint16_t *keys, *values;
  int64_t block_size;

  uint16_t* keys_of(int64_t block) const { return keys + block * block_size; }
  uint16_t* values_of(int64_t block) const { return values + block * block_size; }
};

// Rows [first, first + count) of one head; zeros behind them and behind `dim`.
void round_rows(const Kernels& kernels, const KvCache& cache, const BufferPtr& from, int64_t head, int64_t first,
                int64_t count, int64_t width, uint16_t* to) {
  const auto [heads, dim] = cache.layout;
  thread_local std::vector<float> row;
  row.resize(static_cast<size_t>(dim));
  for (int64_t j = 0; j < turned_keys; ++j) {
    uint16_t* at = to + j * width;
    if (j < count) {
      load_head(kernels, cache.type, cache_head(cache.type, from->host(), first + j, heads, dim, head), dim,
                row.data());
      kernels.round_bf16(row.data(), dim, at);
    }
    const int64_t written = j < count ? dim : 0;
    std::fill(at + written, at + width, uint16_t{0});
  }
}

// An item: at most 32 rows of one key/value head; a row is (token, query head).
struct HeadRows {
  int64_t first_query, group, dim, first, count;

  float* of(const Tensor& tokens, int64_t r) const {
    return row(tokens, (first + r) / group) + (first_query + (first + r) % group) * dim;
  }
  // Row r sees so many keys; rows that are not there see what the last one does.
  int32_t limit(int64_t r, int64_t past) const {
    return static_cast<int32_t>(past + (first + std::min(r, count - 1)) / group + 1);
  }
};

// The queries of `rows`, scaled and rounded, as RoundedCausalTile wants them; until the thread's next call.
const uint32_t* pair_queries(const Kernels& kernels, const HeadRows& rows, Tensor q, float scale, int64_t width) {
  thread_local std::vector<float> scaled;
  thread_local std::vector<uint16_t> halves;
  thread_local std::vector<uint32_t> pairs;
  scaled.resize(static_cast<size_t>(rows.dim));
  halves.assign(static_cast<size_t>(rounded_rows * width), 0);
  pairs.resize(static_cast<size_t>(rounded_rows * width / 2));
  for (int64_t r = 0; r < rows.count; ++r) {
    const float* from = rows.of(q, r);
    std::transform(from, from + rows.dim, scaled.data(), [&](float x) { return x * scale; });
    kernels.round_bf16(scaled.data(), rows.dim, halves.data() + r * width);
  }
  kernels.pair_columns(halves.data(), width, pairs.data());
  return pairs.data();
}

}  // namespace

// The keys are rounded and turned for all items, a split after the other, and each item goes on with its softmax.
Tensor CpuBackend::attend_causal_rounded(Tensor q, const KvCache& cache, const Attention& shape) {
  const auto [query, kv, dim] = shape.heads;
  const int64_t heads = kv, group = query / kv, head_dim = dim, past = cache.length - q.rows, rows = q.rows * group;
  const int64_t tiles = (rows + rounded_rows - 1) / rounded_rows, width = (dim + 31) / 32 * 32;
  const int64_t block_size = turned_keys * width;
  const int64_t head_blocks = (std::min(keys_a_split, cache.length) + turned_keys - 1) / turned_keys;
  const auto halves = [&](int64_t count) { return reinterpret_cast<uint16_t*>(data(scratch(1, (count + 1) / 2))); };
  const RoundedKeys rounded{halves(kv * head_blocks * block_size), halves(kv * head_blocks * block_size), block_size};
  const Tensor sums = scratch(kv * tiles, width * rounded_rows), peaks = scratch(kv * tiles, 2 * rounded_rows);
  const Tensor out = scratch(q.rows, q.cols);
  const float scale = shape.scale * std::numbers::log2e_v<float>;  // weights are powers of two

  const auto round_block = [&](int64_t head, int64_t block, int64_t first, int64_t count) {
    thread_local std::vector<uint16_t> values;
    values.resize(static_cast<size_t>(block_size));
    const int64_t at = head * head_blocks + block;
    round_rows(kernels_, cache, cache.keys, head, first, count, width, rounded.keys_of(at));
    round_rows(kernels_, cache, cache.values, head, first, count, width, values.data());
    kernels_.turn_values(values.data(), width, rounded.values_of(at));
  };
  const auto attend_keys = [&](int64_t item, int64_t first, int64_t count) {
    const int64_t head = item / tiles, row_of_head = item % tiles * rounded_rows;
    const HeadRows item_rows{head * group, group, head_dim, row_of_head, std::min(rounded_rows, rows - row_of_head)};
    int32_t limits[rounded_rows];
    for (int64_t r = 0; r < rounded_rows; ++r) limits[r] = item_rows.limit(r, past);
    const int64_t most = limits[rounded_rows - 1], seen = std::min(count, most - first);
    if (seen <= 0) return;
    float *o = row(sums, item), *peak = row(peaks, item), *total = peak + rounded_rows;
    if (first == 0) {
      std::fill_n(o, width * rounded_rows, 0.0f);
      std::fill_n(peak, rounded_rows, none);
      std::fill_n(total, rounded_rows, 0.0f);
    }
    thread_local std::vector<float> finished;
    const bool last = first + count >= most;
    if (last) finished.resize(static_cast<size_t>(rounded_rows * width));
    const int64_t block = head * head_blocks;
    kernels_.attend_causal_rounded({pair_queries(kernels_, item_rows, q, scale, width), rounded.keys_of(block),
                                    rounded.values_of(block), width, first, seen, limits, o, peak, total,
                                    last ? finished.data() : nullptr});
    for (int64_t r = 0; last && r < item_rows.count; ++r)
      std::copy_n(finished.data() + r * width, head_dim, item_rows.of(out, r));
  };
  for (int64_t first = 0; first < cache.length; first += keys_a_split) {
    const int64_t count = std::min(keys_a_split, cache.length - first);
    const int64_t blocks = (count + turned_keys - 1) / turned_keys;
    parallel(heads * blocks, [&](int64_t item) {
      const int64_t key = item % blocks * turned_keys;
      round_block(item / blocks, item % blocks, first + key, std::min(turned_keys, count - key));
    });
    parallel(heads * tiles, [&](int64_t item) { attend_keys(item, first, count); });
  }
  return out;
}

}  // namespace longhand::cpu
