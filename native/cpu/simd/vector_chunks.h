// Lightning attention in prefill over a vector type V: chunks of tokens as masked matrix products (arXiv 2405.16889),
// all of them one loop whose sums stay in registers. For n tokens, g[t][j] = scale d^(t - j) where j <= t, else 0:
//   O = scale d^(t + 1) (Q S) + ((Q K^T) * g) V;  S <- d^n S + sum_t d^(n - 1 - t) k_t v_t^T
// A longer chunk reads and writes S less often, of which little is left after 16 tokens, and multiplies more beside Q S
// and K^T V: 64 tokens take 1.15 times as long (test/bench/LEDGER.md).
#pragma once

#include <cstring>

#include "cpu/simd/vector_blocks.h"

namespace {

using longhand::cpu::GlaTile;

// Rows of sums by two vectors: as many as keep two multipliers busy and fit in the registers. A chunk is whole rows.
template <class V>
constexpr int gla_rows = V::registers == 32 ? 8 : 6;
template <class V>
constexpr int64_t gla_tokens = V::registers == 32 ? 16 : 24;

template <class V>
struct GlaChunk {
  static constexpr int64_t N = gla_tokens<V>;
  alignas(64) float q[N * most_key_dim], k[N * most_key_dim];  // rows side by side; of k times d^(n - 1 - t)
  alignas(64) float turned[most_key_dim * N];                  // K^T
  alignas(64) float fours[most_key_dim * N];                   // on its way there: [key_dim / 4, N, 4]
  alignas(64) float scores[N * N];
  alignas(64) float v[N * 2 * V::width];
  float power[N + 1], outward[N], mask[2 * N];  // d^t; scale d^(t + 1); mask[N - 1 - t + j] = g[t][j]
};

template <class V, int R, int C>
inline void clear(typename V::F (&sum)[R][C]) {
  for (auto& row : sum)
    for (auto& x : row) x = V::zero();
}

// C vectors, or the first `lanes` floats of each.
template <class V, int C>
inline void load_row(typename V::F (&to)[C], const float* from, int64_t lanes) {
  for (int c = 0; c < C; ++c)
    to[c] = lanes == V::width ? V::load(from + c * V::width) : V::load_part(from + c * V::width, lanes);
}

template <class V, int C>
inline void store_row(float* to, const typename V::F (&from)[C], int64_t lanes) {
  for (int c = 0; c < C; ++c)
    lanes == V::width ? V::store(to + c * V::width, from[c]) : V::store_part(to + c * V::width, from[c], lanes);
}

// sum[r][c] += sum_i a[r across + i along] b[i stride + c V::width]
template <class V, int R, int C>
inline void multiply_add(typename V::F (&sum)[R][C], const float* a, int64_t across, int64_t along, const float* b,
                         int64_t stride, int64_t n, int64_t lanes) {
  for (int64_t i = 0; i < n; ++i, a += along, b += stride) {
    typename V::F row[C];
    load_row<V>(row, b, lanes);
    for (int r = 0; r < R; ++r) {
      const typename V::F factor = V::set(a[r * across]);
      for (int c = 0; c < C; ++c) sum[r][c] = V::fma(factor, row[c], sum[r][c]);
    }
  }
}

template <class V>
inline void gla_decays(GlaChunk<V>& chunk, float decay, float scale) {
  constexpr int64_t N = gla_tokens<V>;
  chunk.power[0] = 1;
  for (int64_t t = 0; t < N; ++t) {
    chunk.power[t + 1] = seen(chunk.power[t] * decay);
    chunk.outward[t] = scale * chunk.power[t + 1];
    chunk.mask[N - 1 - t] = scale * chunk.power[t];
    chunk.mask[N + t] = 0;
  }
}

// Queries and keys of n tokens, without padding.
template <class V>
inline void gla_load(GlaChunk<V>& chunk, const GlaTile& tile, int64_t first, int64_t n) {
  constexpr int64_t N = gla_tokens<V>;
  const int64_t dim = tile.key_dim, whole = dim / 4 * 4;
  for (int64_t t = 0; t < n; ++t) {
    const float* from = tile.k + (first + t) * tile.k_stride;
    const float rest = chunk.power[n - 1 - t];
    std::memcpy(chunk.q + t * dim, tile.q + (first + t) * tile.q_stride, static_cast<size_t>(dim) * sizeof(float));
    int64_t i = 0;
    for (; i + V::width <= dim; i += V::width) V::store(chunk.k + t * dim + i, V::mul(V::set(rest), V::load(from + i)));
    for (; i < dim; ++i) chunk.k[t * dim + i] = rest * from[i];
    for (i = 0; i < whole; i += 4) std::memcpy(chunk.fours + i * N + t * 4, from + i, 4 * sizeof(float));
    for (; i < dim; ++i) chunk.turned[i * N + t] = from[i];
  }
  for (int64_t t = n; t < N; ++t) {
    std::memset(chunk.q + t * dim, 0, static_cast<size_t>(dim) * sizeof(float));
    for (int64_t i = 0; i < whole; i += 4) std::memset(chunk.fours + i * N + t * 4, 0, 4 * sizeof(float));
    for (int64_t i = whole; i < dim; ++i) chunk.turned[i * N + t] = 0;
  }
  for (int64_t i = 0; i < whole; i += 4) {
    for (int64_t t = 0; t < N; t += V::width) {
      typename V::F parts[4];
      V::load_fours(chunk.fours + i * N + t * 4, parts);
      for (int64_t j = 0; j < 4; ++j) V::store(chunk.turned + (i + j) * N + t, parts[j]);
    }
  }
}

// Scores of R queries from t on and C vectors of keys from j on.
template <class V, int R, int C>
inline void gla_score(GlaChunk<V>& chunk, int64_t dim, int64_t t, int64_t j) {
  constexpr int64_t N = gla_tokens<V>;
  typename V::F sum[R][C];
  clear<V>(sum);
  multiply_add<V>(sum, chunk.q + t * dim, dim, 1, chunk.turned + j, N, dim, V::width);
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      const int64_t key = j + c * V::width;
      const typename V::F g = V::load(chunk.mask + N - 1 - t - r + key);
      V::store(chunk.scores + (t + r) * N + key, V::where_at_least(g, V::set(0x1p-126f), V::mul(g, sum[r][c])));
    }
  }
}

template <class V>
inline void gla_scores(GlaChunk<V>& chunk, int64_t dim, int64_t n) {
  constexpr int R = gla_rows<V>;
  for (int64_t t = 0; t < n; t += R) {
    const int64_t keys = t + R < n ? t + R : n;
    int64_t j = 0;
    for (; j + V::width < keys; j += 2 * V::width) gla_score<V, R, 2>(chunk, dim, t, j);
    if (j < keys) gla_score<V, R, 1>(chunk, dim, t, j);
  }
}

// The outputs of n tokens in C vectors of value columns.
template <class V, int C>
inline void gla_outputs(const GlaChunk<V>& chunk, const GlaTile& tile, const float* S, int64_t n, int64_t lanes,
                        float* o) {
  constexpr int R = gla_rows<V>;
  constexpr int64_t N = gla_tokens<V>;
  const int64_t dim = tile.key_dim;
  for (int64_t t = 0; t < n; t += R) {
    typename V::F sum[R][C];
    clear<V>(sum);
    multiply_add<V>(sum, chunk.q + t * dim, dim, 1, S, tile.value_dim, dim, lanes);
    for (int r = 0; r < R; ++r)
      for (auto& x : sum[r]) x = V::mul(V::set(chunk.outward[t + r]), x);
    const int64_t end = t + R < n ? t + R : n;
    multiply_add<V>(sum, chunk.scores + t * N, N, 1, chunk.v, C * V::width, end, V::width);
    for (int r = 0; t + r < end; ++r) store_row<V>(o + (t + r) * tile.o_stride, sum[r], lanes);
  }
}

// Updates `rows` rows of the state in C vectors of value columns, R at a time. Not inlined: if the compiler knows how
// few tokens there can be, it unrolls the loop into loads from the stack.
template <class V, int R, int C>
[[gnu::noinline]] void gla_update(const GlaChunk<V>& chunk, int64_t dim, int64_t first, int64_t rows, float* S,
                                  int64_t stride, int64_t n, int64_t lanes) {
  const typename V::F decay = V::set(chunk.power[n]);
  for (int64_t i = first; i < first + rows; i += R) {
    typename V::F s[R][C];
    for (int r = 0; r < R; ++r) {
      load_row<V>(s[r], S + (i + r) * stride, lanes);
      for (auto& x : s[r]) x = V::mul(decay, x);
    }
    multiply_add<V>(s, chunk.k + i, 1, dim, chunk.v, C * V::width, n, V::width);
    for (int r = 0; r < R; ++r) store_row<V>(S + (i + r) * stride, s[r], lanes);
  }
}

// C vectors of value columns, which stay in the first-level cache: first the outputs, then the state.
template <class V, int C>
inline void gla_chunk_columns(GlaChunk<V>& chunk, const GlaTile& tile, int64_t first, int64_t n, int64_t column,
                              int64_t lanes) {
  for (int64_t t = 0; t < n; ++t) {
    typename V::F v[C];
    load_row<V>(v, tile.v + (first + t) * tile.v_stride + column, lanes);
    store_row<V>(chunk.v + t * C * V::width, v, V::width);
  }
  float* S = tile.S + column;
  gla_outputs<V, C>(chunk, tile, S, n, lanes, tile.o + first * tile.o_stride + column);
  constexpr int R = gla_rows<V>;
  const int64_t dim = tile.key_dim, whole = dim / R * R;
  gla_update<V, R, C>(chunk, dim, 0, whole, S, tile.value_dim, n, lanes);
  gla_update<V, 1, C>(chunk, dim, whole, dim - whole, S, tile.value_dim, n, lanes);
}

template <class V>
inline void gla_in_chunks(const GlaTile& tile) {
  constexpr int64_t N = gla_tokens<V>;
  GlaChunk<V> chunk;
  gla_decays(chunk, tile.decay, tile.scale);
  for (int64_t first = 0; first < tile.tokens; first += N) {
    const int64_t left = tile.tokens - first, n = left < N ? left : N;
    gla_load(chunk, tile, first, n);
    gla_scores(chunk, tile.key_dim, n);
    int64_t column = 0;
    for (; column + 2 * V::width <= tile.value_dim; column += 2 * V::width)
      gla_chunk_columns<V, 2>(chunk, tile, first, n, column, V::width);
    for (; column < tile.value_dim; column += V::width) {
      const int64_t rest = tile.value_dim - column;
      gla_chunk_columns<V, 1>(chunk, tile, first, n, column, rest < V::width ? rest : V::width);
    }
  }
}

}  // namespace
