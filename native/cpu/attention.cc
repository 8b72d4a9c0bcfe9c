// Causal softmax attention over a cache, query heads in groups that share a key/value head.
//
// The keys are cut into splits at fixed positions and every split is walked in blocks; partial results carry their peak
// and sum and are joined in order. So the work spreads over threads at any context, and a row's result depends neither
// on their number nor on how the tokens were split into passes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/backend.h"
#include "cpu/cache.h"
#include "cpu/scalar.h"

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
  for (int64_t r = 0; r < tile.rows; ++r) {
    float* o = tile.o + r * tile.dim;
    const int64_t seen = std::min(tile.count, tile.limit[r] - tile.first);
    for (int64_t j = 0; j < seen; ++j) {
      const float score = dot(tile.q + r * tile.dim, tile.keys + j * tile.stride, tile.dim);
      const float peak = std::max(score, tile.peak[r]);
      const float fade = std::exp(tile.peak[r] - peak), weight = std::exp(score - peak);
      tile.peak[r] = peak;
      tile.sum[r] = tile.sum[r] * fade + weight;
      for (int64_t i = 0; i < tile.dim; ++i) o[i] = o[i] * fade + weight * tile.values[j * tile.stride + i];
    }
  }
}

namespace {

constexpr int64_t split_keys = 1024;
constexpr int64_t block_keys = 32;  // decoded at a time when the cache is not fp32
constexpr int64_t tile_tokens = 16;
constexpr int64_t keys_ahead = 8;  // fetched from memory while the ones before are decoded

// Keys [first, first + count) of one head as fp32: in place, or decoded into `memory`.
struct Keys {
  const float *keys, *values;
  int64_t stride;
};
Keys load_keys(const Kernels& kernels, const KvCache& cache, int64_t head, int64_t first, int64_t count,
               std::vector<float>& memory) {
  const auto [heads, dim] = cache.layout;
  const auto at = [&](const BufferPtr& from, int64_t j) {
    return cache_head(cache.type, from->host(), j, cache.layout.heads, cache.layout.dim, head);
  };
  if (cache.type == CacheType::f32)
    return {reinterpret_cast<const float*>(at(cache.keys, first)),
            reinterpret_cast<const float*>(at(cache.values, first)), heads * dim};
  memory.resize(static_cast<size_t>(2 * block_keys * dim));
  // The heads of a token stand side by side, so those of one head lie far apart: what comes next has to be asked for.
  const size_t head_bytes = static_cast<size_t>(cache_row_bytes(cache.type, 1, dim));
  const auto fetch = [&](const std::byte* from) {
    for (size_t i = 0; i < head_bytes; i += 64) __builtin_prefetch(from + i);
  };
  float* values = memory.data() + block_keys * dim;
  for (int64_t j = 0; j < count; ++j) {
    if (first + j + keys_ahead < cache.length) {
      fetch(at(cache.keys, first + j + keys_ahead));
      fetch(at(cache.values, first + j + keys_ahead));
    }
    load_head(kernels, cache.type, at(cache.keys, first + j), dim, memory.data() + j * dim);
    load_head(kernels, cache.type, at(cache.values, first + j), dim, values + j * dim);
  }
  return {memory.data(), values, dim};
}

// Partial results of all splits: o [splits, rows, dim], peak and sum [splits, rows]; a row is (token, query head).
struct Partials {
  Tensor o, peak, sum;
};

// o = sum_s exp(peak_s - peak) o_s / sum_s exp(peak_s - peak) sum_s
void join(const Kernels& kernels, const Partials& partials, int64_t splits, int64_t rows, int64_t r, int64_t dim,
          float* o) {
  float peak = -std::numeric_limits<float>::infinity(), sum = 0;
  for (int64_t s = 0; s < splits; ++s) peak = std::max(peak, data(partials.peak)[s * rows + r]);
  std::fill_n(o, dim, 0.0f);
  for (int64_t s = 0; s < splits; ++s) {
    const float weight = std::exp(data(partials.peak)[s * rows + r] - peak);
    sum += weight * data(partials.sum)[s * rows + r];
    kernels.add_scaled(o, weight, row(partials.o, s * rows + r), dim);
  }
  for (int64_t i = 0; i < dim; ++i) o[i] /= sum;
}

}  // namespace

Tensor CpuBackend::attention(Tensor q, const KvCache& cache, const Attention& shape) {
  const auto [query, kv, dim] = shape.heads;
  assert(q.cols == query * dim && q.rows <= cache.length && cache.layout.heads == kv && cache.layout.dim == dim);
  const int64_t group = query / kv, past = cache.length - q.rows, rows = q.rows * query;
  const int64_t splits = (cache.length + split_keys - 1) / split_keys;
  const int64_t tiles = (q.rows + tile_tokens - 1) / tile_tokens;
  const Partials partials{scratch(splits * rows, dim), scratch(splits, rows), scratch(splits, rows)};

  // One item: the query heads of a key/value head, a tile of tokens, a split of the keys.
  const int64_t heads = kv, width = dim;
  parallel(heads * tiles * splits, [&](int64_t item) {
    const int64_t split = item % splits, head = item / splits % heads, tile = item / splits / heads;
    const int64_t first_token = tile * tile_tokens, tokens = std::min(tile_tokens, q.rows - first_token);
    const int64_t tile_rows = tokens * group;
    thread_local std::vector<float> queries, o, memory, peak, sum;
    thread_local std::vector<int64_t> limit;
    queries.resize(static_cast<size_t>(tile_rows * width));
    limit.resize(static_cast<size_t>(tile_rows));
    o.assign(static_cast<size_t>(tile_rows * width), 0.0f);
    peak.assign(static_cast<size_t>(tile_rows), -std::numeric_limits<float>::infinity());
    sum.assign(static_cast<size_t>(tile_rows), 0.0f);
    for (int64_t r = 0; r < tile_rows; ++r) {
      const float* from = row(q, first_token + r / group) + (head * group + r % group) * width;
      for (int64_t i = 0; i < width; ++i) queries[static_cast<size_t>(r * width + i)] = from[i] * shape.scale;
      limit[static_cast<size_t>(r)] = past + first_token + r / group + 1;
    }
    const int64_t end = std::min((split + 1) * split_keys, limit.back());
    for (int64_t first = split * split_keys; first < end; first += block_keys) {
      const int64_t count = std::min(block_keys, end - first);
      const Keys keys = load_keys(kernels_, cache, head, first, count, memory);
      kernels_.attend({queries.data(), tile_rows, width, keys.keys, keys.values, keys.stride, first, count,
                       limit.data(), o.data(), peak.data(), sum.data()});
    }
    for (int64_t r = 0; r < tile_rows; ++r) {
      const int64_t to = split * rows + (first_token + r / group) * query + head * group + r % group;
      std::copy_n(o.data() + r * width, width, row(partials.o, to));
      data(partials.peak)[to] = peak[static_cast<size_t>(r)];
      data(partials.sum)[to] = sum[static_cast<size_t>(r)];
    }
  });

  const Tensor o = scratch(q.rows, q.cols);
  parallel(q.rows, [&](int64_t t) {
    for (int64_t h = 0; h < query; ++h)
      join(kernels_, partials, splits, rows, t * query + h, width, row(o, t) + h * width);
  });
  return o;
}

}  // namespace longhand::cpu
