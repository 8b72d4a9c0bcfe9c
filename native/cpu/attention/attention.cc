// Causal softmax attention over a cache, query heads in groups that share a key/value head.
//
// The keys are cut into splits at fixed positions and every split is walked in blocks; partial results carry their peak
// and sum and are folded into a running result in order, a few splits at a time. So the work spreads over threads at
// any context, the memory it takes does not grow with the context, and a row's result depends neither on the number of
// threads nor on how the tokens were split into passes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cpu/attention/cache.h"
#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"

namespace longhand::cpu {

float scalar::largest(const float* x, int64_t n) { return *std::max_element(x, x + n); }

double scalar::sum_exp(const float* x, float peak, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(std::exp(x[i] - peak));
  return sum;
}

// The largest score is subtracted first.
void scalar::softmax(float* x, int64_t n) {
  const float peak = largest(x, n);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - peak);
  for (int64_t i = 0; i < n; ++i) x[i] /= sum;
}

void scalar::attend(const AttentionTile& tile) {
  std::vector<float> key(static_cast<size_t>(tile.dim)), value(key);
  const auto read = [&](const std::byte* from, int64_t j, int64_t head, std::vector<float>& to) {
    const std::byte* at = from + (j * tile.stride + head * tile.dim) * (tile.halves ? 2 : 4);
    if (tile.halves) scalar::from_f16(at, tile.dim, to.data());
    else std::memcpy(to.data(), at, to.size() * sizeof(float));
  };
  for (int64_t r = 0; r < tile.heads * tile.rows; ++r) {
    float* o = tile.o + r * tile.dim;
    const int64_t seen = std::min(tile.count, tile.limit[r % tile.rows] - tile.first);
    for (int64_t j = 0; j < seen; ++j) {
      read(tile.keys, j, r / tile.rows, key);
      read(tile.values, j, r / tile.rows, value);
      const float score = dot(tile.q + r * tile.dim, key.data(), tile.dim);
      const float peak = std::max(score, tile.peak[r]);
      const float fade = std::exp(tile.peak[r] - peak), weight = std::exp(score - peak);
      tile.peak[r] = peak;
      tile.sum[r] = tile.sum[r] * fade + weight;
      for (int64_t i = 0; i < tile.dim; ++i) o[i] = o[i] * fade + weight * value[static_cast<size_t>(i)];
    }
  }
}

namespace {

constexpr int64_t split_keys = 1024;
constexpr int64_t block_keys = 32;  // read at a time, so that they stay in the first-level cache
constexpr int64_t tile_tokens = 32;
constexpr int64_t few_rows = 8;  // of a head: up to here f16 is decoded where it is multiplied, beyond it once for all
constexpr int64_t most_heads = 16;

// Keys [first, first + count) of one head: in place, or decoded into `memory`.
struct Keys {
  const std::byte *keys, *values;
  int64_t stride;
};
Keys load_keys(const Kernels& kernels, const KvCache& cache, int64_t head, int64_t first, int64_t count, bool in_place,
               std::vector<float>& memory) {
  const auto [heads, dim] = cache.layout;
  const auto at = [&](const BufferPtr& from, int64_t j) {
    return cache_head(cache.type, from->host(), j, cache.layout.heads, cache.layout.dim, head);
  };
  if (in_place) return {at(cache.keys, first), at(cache.values, first), heads * dim};
  memory.resize(static_cast<size_t>(2 * block_keys * dim));
  float* values = memory.data() + block_keys * dim;
  for (int64_t j = 0; j < count; ++j) {
    load_head(kernels, cache.type, at(cache.keys, first + j), dim, memory.data() + j * dim);
    load_head(kernels, cache.type, at(cache.values, first + j), dim, values + j * dim);
  }
  return {reinterpret_cast<const std::byte*>(memory.data()), reinterpret_cast<const std::byte*>(values), dim};
}

// Key/value heads of one item. For few tokens keys are read in long runs, all heads of a key together if there are
// enough splits for every thread; many tokens take one head at a time and share its keys.
int64_t heads_an_item(int64_t heads, int64_t rows, int64_t splits, int threads) {
  if (rows > few_rows) return 1;
  return std::clamp(heads * splits / (2 * threads), int64_t{1}, std::min(heads, most_heads));
}

// Partial results of the splits of one wave: o [splits, rows, dim], peak and sum [splits, rows]; a row is (token, query
// head).
struct Partials {
  Tensor o, peak, sum;
};

// The running result of one row over the splits so far.
struct Running {
  float *o, *peak, *sum;
};

// (o, peak, sum) of a row and of split `s`, brought to the larger peak and added. A split of which the row sees no key
// changes nothing.
void fold(const Kernels& kernels, const Partials& partials, int64_t s, int64_t rows, int64_t r, int64_t dim,
          const Running& to) {
  const float split_peak = data(partials.peak)[s * rows + r], split_sum = data(partials.sum)[s * rows + r];
  if (split_sum == 0.0f) return;
  const float peak = std::max(*to.peak, split_peak);
  const float fade = std::exp(*to.peak - peak), weight = std::exp(split_peak - peak);
  *to.peak = peak;
  *to.sum = *to.sum * fade + weight * split_sum;
  for (int64_t i = 0; i < dim; ++i) to.o[i] *= fade;
  kernels.add_scaled(to.o, weight, row(partials.o, s * rows + r), dim);
}

}  // namespace

Tensor CpuBackend::attention(Tensor q, const KvCache& cache, const Attention& shape) {
  const auto [query, kv, dim] = shape.heads;
  assert(q.cols == query * dim && q.rows <= cache.length && cache.layout.heads == kv && cache.layout.dim == dim);
  if (kernels_.attend_causal_rounded && reads(q.rows)) return attend_causal_rounded(q, cache, shape);
  const int64_t group = query / kv, past = cache.length - q.rows, rows = q.rows * query;
  const int64_t splits = (cache.length + split_keys - 1) / split_keys;
  const int64_t tiles = (q.rows + tile_tokens - 1) / tile_tokens;

  // One item: the query heads of some key/value heads, a tile of tokens, a split of the keys.
  const int64_t heads = kv, width = dim, together = heads_an_item(kv, q.rows * group, splits, threads_.count());
  const int64_t groups = (heads + together - 1) / together;
  const bool in_place = cache.type == CacheType::f32 || (cache.type == CacheType::f16 && q.rows * group <= few_rows);
  // Splits side by side: enough for every thread, and no more.
  const int64_t wave = std::clamp(4 * threads_.count() / (groups * tiles), int64_t{1}, splits);
  const Partials partials{scratch(wave * rows, dim), scratch(wave, rows), scratch(wave, rows)};
  const Tensor out = scratch(q.rows, q.cols), peaks = scratch(1, rows), sums = scratch(1, rows);
  std::fill_n(data(out), out.rows * out.cols, 0.0f);
  std::fill_n(data(peaks), rows, -std::numeric_limits<float>::infinity());
  std::fill_n(data(sums), rows, 0.0f);

  const auto attend_split = [&](int64_t item, int64_t first_split, int64_t count_splits) {
    const int64_t slot = item % count_splits, split = first_split + slot, tile = item / count_splits / groups;
    const int64_t first_head = item / count_splits % groups * together;
    const int64_t count_heads = std::min(together, heads - first_head);
    const int64_t first_token = tile * tile_tokens, tokens = std::min(tile_tokens, q.rows - first_token);
    const int64_t head_rows = tokens * group, all_rows = count_heads * head_rows;
    thread_local std::vector<float> queries, o, memory, peak, sum;
    thread_local std::vector<int64_t> limit;
    queries.resize(static_cast<size_t>(all_rows * width));
    limit.resize(static_cast<size_t>(head_rows));
    o.assign(static_cast<size_t>(all_rows * width), 0.0f);
    peak.assign(static_cast<size_t>(all_rows), -std::numeric_limits<float>::infinity());
    sum.assign(static_cast<size_t>(all_rows), 0.0f);
    const auto token_of = [&](int64_t r) { return first_token + r % head_rows / group; };
    const auto query_of = [&](int64_t r) { return (first_head + r / head_rows) * group + r % group; };
    for (int64_t r = 0; r < all_rows; ++r) {
      const float* from = row(q, token_of(r)) + query_of(r) * width;
      for (int64_t i = 0; i < width; ++i) queries[static_cast<size_t>(r * width + i)] = from[i] * shape.scale;
    }
    for (int64_t r = 0; r < head_rows; ++r) limit[static_cast<size_t>(r)] = past + token_of(r) + 1;
    const int64_t end = std::min((split + 1) * split_keys, limit.back());
    for (int64_t first = split * split_keys; first < end; first += block_keys) {
      const int64_t count = std::min(block_keys, end - first);
      // Keys that are multiplied in place are taken for all heads at once.
      const int64_t at_once = in_place ? count_heads : 1;
      for (int64_t h = 0; h < count_heads; h += at_once) {
        const Keys keys = load_keys(kernels_, cache, first_head + h, first, count, in_place, memory);
        const int64_t r = h * head_rows;
        kernels_.attend({queries.data() + r * width, at_once, head_rows, width, keys.keys, keys.values,
                         in_place && cache.type == CacheType::f16, keys.stride, first, count, limit.data(),
                         o.data() + r * width, peak.data() + r, sum.data() + r});
      }
    }
    for (int64_t r = 0; r < all_rows; ++r) {
      const int64_t to = slot * rows + token_of(r) * query + query_of(r);
      std::copy_n(o.data() + r * width, width, row(partials.o, to));
      data(partials.peak)[to] = peak[static_cast<size_t>(r)];
      data(partials.sum)[to] = sum[static_cast<size_t>(r)];
    }
  };

  for (int64_t first = 0; first < splits; first += wave) {
    const int64_t count = std::min(wave, splits - first);
    parallel(groups * tiles * count, [&](int64_t item) { attend_split(item, first, count); });
    parallel(q.rows, [&](int64_t t) {
      for (int64_t h = 0; h < query; ++h) {
        const int64_t r = t * query + h;
        const Running to{row(out, t) + h * width, data(peaks) + r, data(sums) + r};
        for (int64_t s = 0; s < count; ++s) fold(kernels_, partials, s, rows, r, width, to);
        if (first + count < splits) continue;
        for (int64_t i = 0; i < width; ++i) to.o[i] /= *to.sum;
      }
    });
  }
  return out;
}

}  // namespace longhand::cpu
