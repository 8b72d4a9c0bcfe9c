// The delta rule in prefill over a vector type V: blocks of four tokens, whose states are one product of the state
// before the block and of each other (the chunked form of arXiv 2412.06464, for chunks that fit in registers). A state
// is read and written once a block, not once a token, and its sums do not wait for each other. Per token and head of
// 128 by 128 against token after token: 1.5 times as fast with AVX-512; with 16 registers no faster
// (test/bench/LEDGER.md).
#pragma once

#include "cpu/kernels/kernels.h"

namespace {

using longhand::cpu::DeltaTile;

constexpr int block_tokens = 4;
constexpr int64_t chunk_tokens = 32;  // so many tokens' small products, queries and keys are kept for all columns
constexpr int64_t most_key_dim = 256;
// Fewer tokens are processed one by one: verifying a few at a time gives the bits of single steps.
constexpr int64_t least_tokens = 16;

// What the columns of a block share. between[j][t]: the decay from after token j until token t has decayed.
template <int T>
struct DeltaBlock {
  float keys[T][T], queries[T][T];  // [j][t] k_j . k_t and k_j . q_t times between[j][t], j < t and j <= t
  float start[T];                   // decay of the state before the block, until token t
  float rest[T];                    // and of what token t adds, until the block's end
};

// Rows of T tokens side by side: to[i][t] = from[t][i]. In the source their stride is large and often a power of two,
// so that they would evict each other from the first-level cache.
template <int T>
inline void gather_rows(const float* from, int64_t stride, int64_t n, float (*to)[T]) {
  for (int64_t i = 0; i < n; ++i)
    for (int t = 0; t < T; ++t) to[i][t] = from[t * stride + i];
}

// After such a decay the rest is negligible, but as subnormal numbers it would take a hundred times as long to
// multiply.
inline float seen(float decay) { return decay < 0x1p-64f ? 0.0f : decay; }

template <class V, int T>
inline DeltaBlock<T> delta_block(const DeltaTile& tile, int64_t first) {
  DeltaBlock<T> block;
  const float* k = tile.k + first * tile.stride;
  const float* q = tile.q + first * tile.stride;
  const float* decay = tile.decay + first * tile.gate_stride;
  for (int j = 0; j < T; ++j) {
    float between = 1;
    for (int t = j; t < T; ++t) {
      if (t > j) {
        between = seen(between * decay[t * tile.gate_stride]);
        block.keys[j][t] = between * dot<V>(k + j * tile.stride, k + t * tile.stride, tile.key_dim);
      }
      block.queries[j][t] = between * dot<V>(k + j * tile.stride, q + t * tile.stride, tile.key_dim);
    }
    block.rest[j] = between;
  }
  float start = 1;
  for (int t = 0; t < T; ++t) block.start[t] = start = seen(start * decay[t * tile.gate_stride]);
  return block;
}

// `blocks` blocks from token `first` on, C vectors of value columns:
//   u_t = beta_t (v_t - start_t S^T k_t - sum_{j<t} keys_jt u_j);  o_t = start_t S^T q_t + sum_{j<=t} queries_jt u_j
//   S <- start_T S + sum_t rest_t k_t u_t^T
template <class V, int T, int C>
inline void delta_columns_in_blocks(const DeltaTile& tile, const DeltaBlock<T>* block, const float (*k)[T],
                                    const float (*q)[T], int64_t first, int64_t blocks, int64_t column, int64_t lanes) {
  using F = typename V::F;
  const auto load = [lanes](const float* p) { return lanes == V::width ? V::load(p) : V::load_part(p, lanes); };
  const auto store = [lanes](float* p, F x) { return lanes == V::width ? V::store(p, x) : V::store_part(p, x, lanes); };
  float* S = tile.S + column;
  F with_k[T][C], with_q[T][C], u[T][C];
  const auto meet = [&](const float(&keys)[T], const float(&queries)[T], const F(&s)[C]) {
    for (int t = 0; t < T; ++t) {
      const F ki = V::set(keys[t]), qi = V::set(queries[t]);
      for (int c = 0; c < C; ++c) {
        with_k[t][c] = V::fma(s[c], ki, with_k[t][c]);
        with_q[t][c] = V::fma(s[c], qi, with_q[t][c]);
      }
    }
  };
  const auto clear = [&] {
    for (int t = 0; t < T; ++t)
      for (int c = 0; c < C; ++c) with_k[t][c] = with_q[t][c] = V::zero();
  };
  clear();
  for (int64_t i = 0; i < tile.key_dim; ++i) {
    F s[C];
    for (int c = 0; c < C; ++c) s[c] = load(S + i * tile.value_dim + c * V::width);
    meet(k[i], q[i], s);
  }
  for (int64_t b = 0; b < blocks; ++b, ++block, first += T) {
    for (int t = 0; t < T; ++t) {
      const F beta = V::set(tile.beta[(first + t) * tile.gate_stride]), start = V::set(block->start[t]);
      for (int c = 0; c < C; ++c) {
        F known = V::mul(start, with_k[t][c]), o = V::mul(start, with_q[t][c]);
        for (int j = 0; j < t; ++j) {
          known = V::fma(V::set(block->keys[j][t]), u[j][c], known);
          o = V::fma(V::set(block->queries[j][t]), u[j][c], o);
        }
        const int64_t at = column + c * V::width;
        u[t][c] = V::mul(beta, V::sub(load(tile.v + (first + t) * tile.stride + at), known));
        store(tile.o + (first + t) * tile.o_stride + at, V::fma(V::set(block->queries[t][t]), u[t][c], o));
      }
    }
    for (int t = 0; t < T; ++t)
      for (int c = 0; c < C; ++c) u[t][c] = V::mul(V::set(block->rest[t]), u[t][c]);
    const F whole = V::set(block->start[T - 1]);
    const int64_t next = b + 1 < blocks ? tile.key_dim : 0;
    clear();
    for (int64_t i = 0; i < tile.key_dim; ++i) {
      F s[C];
      for (int c = 0; c < C; ++c) s[c] = V::mul(whole, load(S + i * tile.value_dim + c * V::width));
      for (int t = 0; t < T; ++t) {
        const F ki = V::set(k[i][t]);
        for (int c = 0; c < C; ++c) s[c] = V::fma(ki, u[t][c], s[c]);
      }
      meet(k[next + i], q[next + i], s);
      for (int c = 0; c < C; ++c) store(S + i * tile.value_dim + c * V::width, s[c]);
    }
    k += next;
    q += next;
  }
}

// The tokens of whole blocks; how many they are.
template <class V>
inline int64_t delta_in_blocks(const DeltaTile& tile) {
  constexpr int T = block_tokens;
  if (tile.tokens < least_tokens || tile.key_dim > most_key_dim) return 0;
  const int64_t all = tile.tokens / T * T;
  alignas(64) float k[chunk_tokens / T * most_key_dim][T], q[chunk_tokens / T * most_key_dim][T];
  for (int64_t first = 0; first < all; first += chunk_tokens) {
    DeltaBlock<T> blocks[chunk_tokens / T];
    const int64_t left = all - first, count = (left < chunk_tokens ? left : chunk_tokens) / T;
    for (int64_t b = 0; b < count; ++b) {
      const int64_t at = (first + b * T) * tile.stride;
      blocks[b] = delta_block<V, T>(tile, first + b * T);
      gather_rows<T>(tile.k + at, tile.stride, tile.key_dim, k + b * tile.key_dim);
      gather_rows<T>(tile.q + at, tile.stride, tile.key_dim, q + b * tile.key_dim);
    }
    int64_t column = tile.first;
    const int64_t end = tile.first + tile.count;
    for (; column + 2 * V::width <= end; column += 2 * V::width)
      delta_columns_in_blocks<V, T, 2>(tile, blocks, k, q, first, count, column, V::width);
    for (; column < end; column += V::width)
      delta_columns_in_blocks<V, T, 1>(tile, blocks, k, q, first, count, column,
                                       end - column < V::width ? end - column : V::width);
  }
  return all;
}

}  // namespace
