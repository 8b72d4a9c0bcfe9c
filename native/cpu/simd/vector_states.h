// Linear attention token by token: the delta rule and lightning attention. Included by vector_kernels.h.
#pragma once

namespace {

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
  // While a state that is used once is written, what comes next is fetched: its next columns or the next state.
  const float* next = column + C * V::width < tile.first + tile.count ? S + C * V::width : tile.next;
  const float* fetched = tile.tokens == 1 && next ? next : S;
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
        __builtin_prefetch(fetched + i * tile.value_dim + c * V::width, 1, 2);
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

// By value: otherwise every vector store might alias the tile, and its fields would be reloaded each time.
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

}  // namespace
