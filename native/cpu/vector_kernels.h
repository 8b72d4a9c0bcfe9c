// The inner loops over a vector type V (vector_*.h). Each including file is compiled for one instruction set, so
// everything here stays in the file's own anonymous namespace: a shared inline function could end up compiled for the
// wrong one.
#pragma once

#include "cpu/kernels.h"
#include "cpu/vector_panels.h"

namespace {

template <class V>
float dot(const float* a, const float* b, int64_t n);

}  // namespace

#include "cpu/vector_blocks.h"
#include "cpu/vector_chunks.h"
#include "cpu/vector_rows.h"

namespace {

using longhand::cpu::AttentionTile;
using longhand::cpu::ConvTile;
using longhand::cpu::Kernels;

// e^x, relative error below 2^-22; 0 below -87.33, where fp32 has no normal number left.
template <class V>
inline typename V::F exp(typename V::F x) {
  using F = typename V::F;
  const F lowest = V::set(-87.33f), highest = V::set(88.37f), magic = V::set(12582912.0f);  // 1.5 2^23
  const F bounded = V::min(V::max(x, lowest), highest);
  const F rounded = V::fma(bounded, V::set(1.44269504f), magic);
  const F n = V::sub(rounded, magic);
  F r = V::fma(n, V::set(-0.693359375f), bounded);  // ln 2 in two parts
  r = V::fma(n, V::set(2.12194440e-4f), r);
  F p = V::set(1.9875691500e-4f);
  p = V::fma(p, r, V::set(1.3981999507e-3f));
  p = V::fma(p, r, V::set(8.3334519073e-3f));
  p = V::fma(p, r, V::set(4.1665795894e-2f));
  p = V::fma(p, r, V::set(1.6666665459e-1f));
  p = V::fma(p, r, V::set(5.0000001201e-1f));
  p = V::add(V::fma(V::mul(r, r), p, r), V::set(1.0f));
  return V::where_at_least(x, lowest, V::scale_by_bits(p, rounded));
}

template <class V>
inline typename V::F sigmoid(typename V::F x) {
  return V::div(V::set(1.0f), V::add(V::set(1.0f), exp<V>(V::sub(V::zero(), x))));
}

// Calls op(load, store) for every vector of [0, n), the last one partial.
template <class V, class Op>
inline void for_vectors(int64_t n, const Op& op) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width)
    op(i, [](const float* p) { return V::load(p); }, [](float* p, typename V::F x) { V::store(p, x); });
  if (const int64_t left = n - i; left > 0)
    op(
        i, [left](const float* p) { return V::load_part(p, left); },
        [left](float* p, typename V::F x) { V::store_part(p, x, left); });
}

template <class V>
float dot(const float* a, const float* b, int64_t n) {
  typename V::F sum = V::zero();
  for_vectors<V>(n, [&](int64_t i, auto load, auto) { sum = V::fma(load(a + i), load(b + i), sum); });
  return V::sum(sum);
}

template <class V>
void add_scaled(float* y, float a, const float* x, int64_t n) {
  const typename V::F factor = V::set(a);
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) { store(y + i, V::fma(factor, load(x + i), load(y + i))); });
}

template <class V>
void rms_norm(const float* x, const float* weight, float eps, int64_t n, float* y) {
  const float mean = dot<V>(x, x, n) / static_cast<float>(n);
  const typename V::F inverse = V::set(1.0f / __builtin_sqrtf(mean + eps));
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    store(y + i, V::mul(V::mul(load(x + i), inverse), load(weight + i)));
  });
}

template <class V>
void silu(float* x, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F value = load(x + i);
    store(x + i, V::mul(value, sigmoid<V>(value)));
  });
}

template <class V>
void multiply_silu(float* x, const float* z, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F gate = load(z + i);
    store(x + i, V::mul(load(x + i), V::mul(gate, sigmoid<V>(gate))));
  });
}

template <class V>
void multiply_sigmoid(float* x, const float* z, int64_t n) {
  for_vectors<V>(n,
                 [&](int64_t i, auto load, auto store) { store(x + i, V::mul(load(x + i), sigmoid<V>(load(z + i)))); });
}

// erf(t) for t >= 0, relative error below 2^-22: t + t p(t^2) to 0.93, 1 - exp(-t - t q(t)) beyond. Nearest polynomials
// in fp32 (N. Juffa).
template <class V>
inline typename V::F erf(typename V::F t) {
  using F = typename V::F;
  const F bounded = V::min(t, V::set(4.0f)), square = V::mul(bounded, bounded);
  const F border = V::set(0.927734375f), below = V::set(0.92773432f);  // neighbours in fp32
  F p = V::set(-5.96761703e-4f);
  p = V::fma(p, square, V::set(4.99119423e-3f));
  p = V::fma(p, square, V::set(-2.67681349e-2f));
  p = V::fma(p, square, V::set(1.12819925e-1f));
  p = V::fma(p, square, V::set(-3.76125336e-1f));
  p = V::fma(p, square, V::set(1.28379166e-1f));
  const F near = V::fma(p, bounded, bounded);
  const F low = V::fma(V::set(-1.72853470e-5f), bounded, V::set(3.83197126e-4f));
  const F high = V::fma(V::set(-3.88396438e-3f), bounded, V::set(2.42546219e-2f));
  F q = V::fma(low, square, high);
  q = V::fma(q, bounded, V::set(-1.06777877e-1f));
  q = V::fma(q, bounded, V::set(-6.34846687e-1f));
  q = V::fma(q, bounded, V::set(-1.28717512e-1f));
  const F far = V::sub(V::set(1.0f), exp<V>(V::fma(q, bounded, V::sub(V::zero(), bounded))));
  return V::add(V::where_at_least(below, bounded, near), V::where_at_least(bounded, border, far));
}

// x (1 + erf(x / sqrt 2)) / 2; erf being odd, x erf(x) = |x| erf(|x|).
template <class V>
void gelu_erf(float* x, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F value = load(x + i), size = V::abs(value);
    const typename V::F both = V::fma(size, erf<V>(V::mul(size, V::set(0.70710678118654752f))), value);
    store(x + i, V::mul(both, V::set(0.5f)));
  });
}

// (1 + tanh u) / 2 is the sigmoid of 2 u.
template <class V>
void gelu_tanh(float* x, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F value = load(x + i), square = V::mul(value, value);
    const typename V::F twice = V::mul(V::fma(square, V::set(0.071354816f), V::set(1.5957691216f)), value);
    store(x + i, V::mul(value, sigmoid<V>(twice)));
  });
}

template <class V>
float largest(const float* x, int64_t n) {
  float peak = x[0];
  int64_t i = 0;
  if (n >= V::width) {
    typename V::F most = V::load(x);
    for (; i + V::width <= n; i += V::width) most = V::max(most, V::load(x + i));
    peak = V::largest(most);
  }
  for (; i < n; ++i) peak = x[i] > peak ? x[i] : peak;
  return peak;
}

// Partial sums of a few thousand terms in fp32, those in fp64.
template <class V>
double sum_exp(const float* x, float peak, int64_t n) {
  constexpr int64_t block = 4096;
  const typename V::F shift = V::set(peak);
  double total = 0;
  for (int64_t first = 0; first < n; first += block) {
    const int64_t count = smaller(block, n - first), whole = count / V::width * V::width;
    typename V::F sum = V::zero();
    for (int64_t i = 0; i < whole; i += V::width) sum = V::add(sum, exp<V>(V::sub(V::load(x + first + i), shift)));
    total += static_cast<double>(V::sum(sum));
    for (int64_t i = whole; i < count; ++i) total += static_cast<double>(__builtin_expf(x[first + i] - peak));
  }
  return total;
}

template <class V>
void softmax(float* x, int64_t n) {
  const typename V::F peak = V::set(largest<V>(x, n));
  typename V::F sum = V::zero();
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) {
    const typename V::F e = exp<V>(V::sub(V::load(x + i), peak));
    V::store(x + i, e);
    sum = V::add(sum, e);
  }
  float total = V::sum(sum);
  if (const int64_t left = n - i; left > 0) {
    V::store_part(x + i, exp<V>(V::sub(V::load_part(x + i, left), peak)), left);
    for (int64_t j = i; j < n; ++j) total += x[j];
  }
  const typename V::F inverse = V::set(1.0f / total);
  for_vectors<V>(n, [&](int64_t j, auto load, auto store) { store(x + j, V::mul(load(x + j), inverse)); });
}

// Channels [c, c + V::width): taps and the inputs that the next token needs again stay in registers.
template <class V, int Width>
inline void convolve_channels(const ConvTile& tile, int64_t c) {
  typename V::F taps[Width], x[Width];
  if constexpr (Width == 4) V::load_fours(tile.taps + c * Width, taps);
  else
    for (int j = 0; j < Width; ++j) taps[j] = V::gather(tile.taps + c * Width + j, Width);
  for (int j = 1; j < Width; ++j) x[j] = V::load(tile.inputs[j - 1] + c);
  for (int64_t t = 0; t < tile.tokens; ++t) {
    for (int j = 1; j < Width; ++j) x[j - 1] = x[j];
    x[Width - 1] = V::load(tile.inputs[t + Width - 1] + c);
    typename V::F sum = V::zero();
    for (int j = 0; j < Width; ++j) sum = V::fma(taps[j], x[j], sum);
    V::store(tile.y + t * tile.y_stride + c, sum);
  }
}

// The same for any width.
template <class V>
inline void convolve_widely(const ConvTile& tile, int64_t c) {
  for (int64_t t = 0; t < tile.tokens; ++t) {
    typename V::F sum = V::zero();
    for (int64_t j = 0; j < tile.width; ++j)
      sum = V::fma(V::gather(tile.taps + c * tile.width + j, tile.width), V::load(tile.inputs[t + j] + c), sum);
    V::store(tile.y + t * tile.y_stride + c, sum);
  }
}

template <class V>
void convolve(const ConvTile& tile) {
  int64_t c = 0;
  for (; c + V::width <= tile.channels; c += V::width) {
    if (tile.width == 4) convolve_channels<V, 4>(tile, c);
    else if (tile.width == 3) convolve_channels<V, 3>(tile, c);
    else convolve_widely<V>(tile, c);
  }
  for (; c < tile.channels; ++c) {
    for (int64_t t = 0; t < tile.tokens; ++t) {
      float sum = 0;
      for (int64_t j = 0; j < tile.width; ++j)
        sum = __builtin_fmaf(tile.taps[c * tile.width + j], tile.inputs[t + j][c], sum);
      tile.y[t * tile.y_stride + c] = sum;
    }
  }
}

template <class V>
void from_f16(const std::byte* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) V::store(to + i, V::load_f16(from + 2 * i));
  if (n > i) V::store_part(to + i, V::load_f16_part(from + 2 * i, n - i), n - i);
}

template <class V>
void to_f16(const float* from, int64_t n, std::byte* to) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) V::store_f16(to + 2 * i, V::load(from + i));
  if (n == i) return;
  uint16_t part[V::width];
  V::store_f16(part, V::load_part(from + i, n - i));
  __builtin_memcpy(to + 2 * i, part, static_cast<size_t>(2 * (n - i)));
}

constexpr int64_t key_block = 32;  // keys and values of a block stay in the first-level cache

// Where keys are read as they stand in a cache, those of the next block are asked for meanwhile. (Always inline: a call
// of a function that only prefetches has no effect in the eyes of GCC and is dropped.)
template <class Rows>
[[gnu::always_inline]] inline void fetch_ahead(const AttentionTile& tile, const std::byte* at, int64_t element) {
  constexpr int64_t line = 64 / Rows::bytes;
  if (Rows::bytes == 2 && element % line == 0) __builtin_prefetch(at + key_block * tile.stride * Rows::bytes, 0, 2);
}

// q . k of R rows with the K keys from `key` on: [R][K] into scores[r * key_block + k]. Four sums are added up
// together, bit for bit as alone.
template <class V, class Rows, int R, int K>
inline void score_keys(const AttentionTile& tile, const float* q, const std::byte* key, float* scores) {
  constexpr int sums = (R * K + 3) / 4 * 4;
  typename V::F sum[sums];
  for (auto& one : sum) one = V::zero();
  const auto add = [&](int64_t i, auto load, auto load_key) {
    typename V::F row[R];
    for (int r = 0; r < R; ++r) row[r] = load(q + r * tile.dim + i);
    for (int k = 0; k < K; ++k) {
      fetch_ahead<Rows>(tile, key + (k * tile.stride + i) * Rows::bytes, i);
      const typename V::F part = load_key(key + (k * tile.stride + i) * Rows::bytes);
      for (int r = 0; r < R; ++r) sum[r * K + k] = V::fma(part, row[r], sum[r * K + k]);
    }
  };
  int64_t i = 0;
  for (; i + V::width <= tile.dim; i += V::width)
    add(i, [](const float* p) { return V::load(p); }, [](const std::byte* p) { return Rows::load(p); });
  if (const int64_t left = tile.dim - i; left > 0)
    add(
        i, [left](const float* p) { return V::load_part(p, left); },
        [left](const std::byte* p) { return Rows::load_part(p, left); });
  float side_by_side[sums];
  for (int n = 0; n < sums; n += 4) V::store_sums(side_by_side + n, sum[n], sum[n + 1], sum[n + 2], sum[n + 3]);
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) scores[r * key_block + k] = side_by_side[r * K + k];
}

// C vectors of the values from `values` on, weighed by the scores of R rows and added to their sums: R * C chains of
// sums, so that none waits for itself.
template <class V, class Rows, int R, int C, class Load, class LoadValue, class Store>
inline void add_values(const AttentionTile& tile, const float* scores, const std::byte* values, int64_t count, float* o,
                       const Load& load, const LoadValue& load_value, const Store& store) {
  typename V::F sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = load(o + r * tile.dim + c * V::width);
  for (int64_t j = 0; j < count; ++j) {
    for (int c = 0; c < C; ++c) {
      fetch_ahead<Rows>(tile, values + (j * tile.stride + c * V::width) * Rows::bytes, c * V::width);
      const typename V::F v = load_value(values + (j * tile.stride + c * V::width) * Rows::bytes);
      for (int r = 0; r < R; ++r) sum[r][c] = V::fma(V::set(scores[r * key_block + j]), v, sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) store(o + r * tile.dim + c * V::width, sum[r][c]);
}

// score_keys for `count` keys.
template <class V, class Rows, int R>
inline void score_block(const AttentionTile& tile, const float* q, const std::byte* keys, int64_t count,
                        float* scores) {
  // As many chains of sums as two multipliers keep busy; with 32 registers more, so that a load serves more of them.
  constexpr int together = R == 1 ? 8 : R == 2 || V::registers == 32 ? 4 : 2;
  const int64_t bytes = tile.stride * Rows::bytes;
  int64_t key = 0;
  for (; key + together <= count; key += together)
    score_keys<V, Rows, R, together>(tile, q, keys + key * bytes, scores + key);
  for (; key < count; ++key) score_keys<V, Rows, R, 1>(tile, q, keys + key * bytes, scores + key);
}

// Scores of one row become weights, its sum and what it has summed so far are brought to the new peak. How many keys
// the row sees.
template <class V>
inline int64_t soften(const AttentionTile& tile, int64_t row, int64_t limit, int64_t from, int64_t count,
                      float* scores) {
  const int64_t visible = limit - tile.first - from, seen = visible < 0 ? 0 : smaller(count, visible);
  for (int64_t j = seen; j < count; ++j) scores[j] = 0;
  if (seen == 0) return 0;
  const float block_peak = largest<V>(scores, seen), old = tile.peak[row];
  const float peak = block_peak > old ? block_peak : old;
  const float fade = old == peak ? 1.0f : __builtin_expf(old - peak);
  float sum = tile.sum[row] * fade;
  int64_t j = 0;
  for (; j + V::width <= seen; j += V::width) {
    const typename V::F e = exp<V>(V::sub(V::load(scores + j), V::set(peak)));
    V::store(scores + j, e);
    sum += V::sum(e);
  }
  if (const int64_t left = seen - j; left > 0) {
    V::store_part(scores + j, exp<V>(V::sub(V::load_part(scores + j, left), V::set(peak))), left);
    for (; j < seen; ++j) sum += scores[j];
  }
  tile.sum[row] = sum;
  tile.peak[row] = peak;
  float* o = tile.o + row * tile.dim;
  if (fade != 1.0f)
    for_vectors<V>(tile.dim,
                   [&](int64_t i, auto load, auto store) { store(o + i, V::mul(load(o + i), V::set(fade))); });
  return seen;
}

// add_values for all columns of `count` keys.
template <class V, class Rows, int R>
inline void value_block(const AttentionTile& tile, const float* scores, const std::byte* values, int64_t count,
                        float* o) {
  constexpr int side_by_side = R <= 2 || V::registers == 32 ? 4 : 2;
  const auto load = [](const float* x) { return V::load(x); };
  const auto load_value = [](const std::byte* x) { return Rows::load(x); };
  const auto store = [](float* x, typename V::F y) { V::store(x, y); };
  int64_t i = 0;
  for (; i + side_by_side * V::width <= tile.dim; i += side_by_side * V::width)
    add_values<V, Rows, R, side_by_side>(tile, scores, values + i * Rows::bytes, count, o + i, load, load_value, store);
  for (; i + V::width <= tile.dim; i += V::width)
    add_values<V, Rows, R, 1>(tile, scores, values + i * Rows::bytes, count, o + i, load, load_value, store);
  if (const int64_t left = tile.dim - i; left > 0)
    add_values<V, Rows, R, 1>(
        tile, scores, values + i * Rows::bytes, count, o + i, [left](const float* x) { return V::load_part(x, left); },
        [left](const std::byte* x) { return Rows::load_part(x, left); },
        [left](float* x, typename V::F y) { V::store_part(x, y, left); });
}

// Calls rows<R>(first row) for all rows of a head, four at a time and then what is left: query heads of a group when a
// token is decoded.
template <class Use>
inline void query_tiles(int64_t count, const Use& use) {
  int64_t row = 0;
  for (; row + 4 <= count; row += 4) use.template operator()<4>(row);
  if (count - row == 3) use.template operator()<3>(row);
  if (count - row == 2) use.template operator()<2>(row);
  if (count - row == 1) use.template operator()<1>(row);
}

// One head, or a few heads whose keys stand side by side: then keys and values are walked in short runs of all heads,
// which is the order they have in memory. One block of keys, [from, from + count) of the tile.
template <class V, class Rows>
inline void attend_block(const AttentionTile& tile, int64_t from, int64_t count) {
  constexpr int64_t most_scores = 64;
  alignas(64) float scores[most_scores][key_block];
  int64_t seen[most_scores];
  const int64_t bytes = tile.stride * Rows::bytes, head_bytes = tile.dim * Rows::bytes;
  const std::byte *keys = tile.keys + from * bytes, *values = tile.values + from * bytes;
  const int64_t key_run = tile.heads > 1 ? 4 : count, value_run = tile.heads > 1 ? 8 : count;
  const int64_t rows = smaller(tile.rows, most_scores / tile.heads / 4 * 4);  // at once: more only of a single head
  for (int64_t first = 0; first < tile.rows; first += rows) {
    const int64_t some = smaller(rows, tile.rows - first);
    const auto each_head = [&](const auto& use) {
      for (int64_t h = 0; h < tile.heads; ++h)
        query_tiles(some,
                    [&]<int R>(int64_t r) { use.template operator()<R>(h, h * tile.rows + first + r, h * some + r); });
    };
    for (int64_t key = 0; key < count; key += key_run)
      each_head([&]<int R>(int64_t h, int64_t row, int64_t at) {
        score_block<V, Rows, R>(tile, tile.q + row * tile.dim, keys + key * bytes + h * head_bytes,
                                smaller(key_run, count - key), &scores[at][key]);
      });
    for (int64_t at = 0; at < tile.heads * some; ++at) {
      const int64_t r = first + at % some;
      seen[at] = soften<V>(tile, at / some * tile.rows + r, tile.limit[r], from, count, scores[at]);
    }
    for (int64_t key = 0; key < count; key += value_run)
      each_head([&]<int R>(int64_t h, int64_t row, int64_t at) {
        int64_t most = 0;
        for (int r = 0; r < R; ++r) most = seen[at + r] > most ? seen[at + r] : most;
        if (most > key)
          value_block<V, Rows, R>(tile, &scores[at][key], values + key * bytes + h * head_bytes,
                                  smaller(value_run, most - key), tile.o + row * tile.dim);
      });
  }
}

template <class V>
void attend(const AttentionTile& tile) {
  for (int64_t from = 0; from < tile.count; from += key_block) {
    const int64_t count = smaller(key_block, tile.count - from);
    if (tile.halves) attend_block<V, F16Rows<V>>(tile, from, count);
    else attend_block<V, F32Rows<V>>(tile, from, count);
  }
}

// C vectors of value columns, all tokens. One pass over S a token: the update of token t and the two products that
// token t + 1 needs, o being decay S^T q + (q . k) u.
template <class V, int C>
inline void delta_columns(const DeltaTile& tile, int64_t column, int64_t lanes) {
  using F = typename V::F;
  const auto load = [lanes](const float* p) { return lanes == V::width ? V::load(p) : V::load_part(p, lanes); };
  const auto store = [lanes](float* p, F x) { return lanes == V::width ? V::store(p, x) : V::store_part(p, x, lanes); };
  F with_k[C], with_q[C], u[C];
  const auto clear = [&] {
    for (int c = 0; c < C; ++c) with_k[c] = with_q[c] = V::zero();
  };
  float* S = tile.S + column;
  clear();
  for (int64_t i = 0; i < tile.key_dim; ++i) {
    const F k = V::set(tile.k[i]), q = V::set(tile.q[i]);
    for (int c = 0; c < C; ++c) {
      const F s = load(S + i * tile.value_dim + c * V::width);
      with_k[c] = V::fma(s, k, with_k[c]);
      with_q[c] = V::fma(s, q, with_q[c]);
    }
  }
  for (int64_t t = 0; t < tile.tokens; ++t) {
    const float* k = tile.k + t * tile.stride;
    const float* q = tile.q + t * tile.stride;
    const F decay = V::set(tile.decay[t * tile.gate_stride]), beta = V::set(tile.beta[t * tile.gate_stride]);
    const F both = V::set(dot<V>(q, k, tile.key_dim));
    for (int c = 0; c < C; ++c) {
      const F v = load(tile.v + t * tile.stride + column + c * V::width);
      u[c] = V::mul(beta, V::sub(v, V::mul(decay, with_k[c])));
      store(tile.o + t * tile.o_stride + column + c * V::width, V::fma(both, u[c], V::mul(decay, with_q[c])));
    }
    const bool more = t + 1 < tile.tokens;
    const float* next_k = more ? k + tile.stride : k;
    const float* next_q = more ? q + tile.stride : q;
    clear();
    for (int64_t i = 0; i < tile.key_dim; ++i) {
      const F ki = V::set(k[i]), nk = V::set(next_k[i]), nq = V::set(next_q[i]);
      for (int c = 0; c < C; ++c) {
        float* at = S + i * tile.value_dim + c * V::width;
        const F s = V::fma(ki, u[c], V::mul(decay, load(at)));
        store(at, s);
        with_k[c] = V::fma(s, nk, with_k[c]);
        with_q[c] = V::fma(s, nq, with_q[c]);
      }
    }
  }
}

template <class V>
void delta(const DeltaTile& whole) {
  DeltaTile tile = whole;
  int64_t done = 0;
  if constexpr (V::delta_blocks) done = delta_in_blocks<V>(whole);
  if (done == whole.tokens) return;
  tile.tokens -= done;
  tile.q += done * tile.stride;
  tile.k += done * tile.stride;
  tile.v += done * tile.stride;
  tile.decay += done * tile.gate_stride;
  tile.beta += done * tile.gate_stride;
  tile.o += done * tile.o_stride;
  int64_t column = tile.first;
  const int64_t end = tile.first + tile.count;
  for (; column + 4 * V::width <= end; column += 4 * V::width) delta_columns<V, 4>(tile, column, V::width);
  for (; column < end; column += V::width) delta_columns<V, 1>(tile, column, smaller(V::width, end - column));
}

// By value: otherwise every store of a vector could have changed the tile, and its fields are read again each time.
template <class V, int C>
inline void gla_columns(GlaTile tile, int64_t column, int64_t lanes) {
  using F = typename V::F;
  const auto load = [lanes](const float* p) { return lanes == V::width ? V::load(p) : V::load_part(p, lanes); };
  const auto store = [lanes](float* p, F x) { return lanes == V::width ? V::store(p, x) : V::store_part(p, x, lanes); };
  const F decay = V::set(tile.decay), scale = V::set(tile.scale);
  for (int64_t t = 0; t < tile.tokens; ++t) {
    F v[C], sum[C];
    for (int c = 0; c < C; ++c) {
      v[c] = load(tile.v + t * tile.v_stride + column + c * V::width);
      sum[c] = V::zero();
    }
    for (int64_t i = 0; i < tile.key_dim; ++i) {
      const F k = V::set(tile.k[t * tile.k_stride + i]), q = V::set(tile.q[t * tile.q_stride + i]);
      for (int c = 0; c < C; ++c) {
        float* at = tile.S + i * tile.value_dim + column + c * V::width;
        const F s = V::fma(k, v[c], V::mul(decay, load(at)));
        store(at, s);
        sum[c] = V::fma(s, q, sum[c]);
      }
    }
    for (int c = 0; c < C; ++c) store(tile.o + t * tile.o_stride + column + c * V::width, V::mul(scale, sum[c]));
  }
}

template <class V>
void gla(const GlaTile& tile) {
  if (tile.tokens >= least_tokens && tile.key_dim <= most_key_dim) return gla_in_chunks<V>(tile);
  int64_t column = 0;
  for (; column + 4 * V::width <= tile.value_dim; column += 4 * V::width) gla_columns<V, 4>(tile, column, V::width);
  for (; column < tile.value_dim; column += V::width)
    gla_columns<V, 1>(tile, column, smaller(V::width, tile.value_dim - column));
}

template <class V>
constexpr Kernels vector_kernels(const char* name) {
  return {.name = name,
          .dot = dot<V>,
          .add_scaled = add_scaled<V>,
          .rms_norm = rms_norm<V>,
          .silu = silu<V>,
          .multiply_silu = multiply_silu<V>,
          .multiply_sigmoid = multiply_sigmoid<V>,
          .gelu_erf = gelu_erf<V>,
          .gelu_tanh = gelu_tanh<V>,
          .largest = largest<V>,
          .sum_exp = sum_exp<V>,
          .softmax = softmax<V>,
          .convolve = convolve<V>,
          .from_f16 = from_f16<V>,
          .to_f16 = to_f16<V>,
          .from_bf16 = from_bf16<V>,
          .two_level = two_level<V>,
          .unpack = unpack<V>,
          .quantise = quantise<V>,
          .panel_fast = panel_fast<V>,
          .packed_tokens = few_tokens<V>,
          .panel_exact = panel_exact<V>,
          .rows_f32 = rows_tile<V, F32Rows<V>>,
          .rows_f16 = rows_tile<V, F16Rows<V>>,
          .rows_bf16 = rows_tile<V, Bf16Rows<V>>,
          .round_bf16 = nullptr,
          .rows_bf16_rounded = nullptr,
          .attend = attend<V>,
          .delta = delta<V>,
          .gla = gla<V>};
}

}  // namespace
