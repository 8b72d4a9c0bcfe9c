// Simple gated linear attention with a constant decay a head (lightning attention; arXiv 2401.04658).
//   S <- exp(-s) S + k v^T;  o = scale * S^T q          per head, S [key_dim, value_dim]
// A chunk of n tokens, i, j = 0 .. n - 1:
//   O = scale * (exp(-s (i + 1)) Q S_0 + ((Q K^T) * Gamma) V),  Gamma_ij = exp(-s (i - j)) for j <= i, else 0
//   S_n = exp(-s n) S_0 + sum_j exp(-s (n - 1 - j)) k_j v_j^T
#include <algorithm>
#include <cmath>

#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"

namespace longhand::cpu {
// Token after token; `gla_intra_chunk` and `gla_state_update` are the same in closed form.
void scalar::gla(const GlaTile& tile) {
  for (int64_t t = 0; t < tile.tokens; ++t) {
    const float* q = tile.q + t * tile.q_stride;
    const float* k = tile.k + t * tile.k_stride;
    const float* v = tile.v + t * tile.v_stride;
    float* o = tile.o + t * tile.o_stride;
    std::fill_n(o, tile.value_dim, 0.0f);
    for (int64_t i = 0; i < tile.key_dim; ++i) {
      float* s = tile.S + i * tile.value_dim;
      for (int64_t j = 0; j < tile.value_dim; ++j) {
        s[j] = tile.decay * s[j] + k[i] * v[j];
        o[j] += tile.scale * q[i] * s[j];
      }
    }
  }
}

namespace {

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape) {
  assert(q.cols == shape.heads * shape.key_dim && k.cols == q.cols && v.cols == shape.heads * shape.value_dim);
  assert(q.rows == k.rows && k.rows == v.rows);
}

void intra_chunk_into(const Kernels& kernels, const Tensor& o, Tensor q, Tensor k, Tensor v, const Gla& shape,
                      int64_t h, const float* S) {
  const auto [key_dim, value_dim] = std::pair(shape.key_dim, shape.value_dim);
  const float slope = floats(shape.slopes)[h];
  for (int64_t i = 0; i < q.rows; ++i) {
    const float* query = row(q, i) + h * key_dim;
    float* out = row(o, i) + h * value_dim;
    std::fill_n(out, value_dim, 0.0f);
    const float decay = std::exp(-slope * static_cast<float>(i + 1));
    for (int64_t c = 0; c < key_dim; ++c) kernels.add_scaled(out, decay * query[c], S + c * value_dim, value_dim);
    for (int64_t j = 0; j <= i; ++j) {
      const float gamma = std::exp(-slope * static_cast<float>(i - j));
      kernels.add_scaled(out, gamma * kernels.dot(query, row(k, j) + h * key_dim, key_dim), row(v, j) + h * value_dim,
                         value_dim);
    }
    for (int64_t c = 0; c < value_dim; ++c) out[c] *= shape.scale;
  }
}

void update_state(const Kernels& kernels, float* S, Tensor k, Tensor v, const Gla& shape, int64_t h) {
  const float slope = floats(shape.slopes)[h];
  const float decay = std::exp(-slope * static_cast<float>(k.rows));
  for (int64_t i = 0; i < shape.key_dim * shape.value_dim; ++i) S[i] *= decay;
  for (int64_t j = 0; j < k.rows; ++j) {
    const float left = std::exp(-slope * static_cast<float>(k.rows - 1 - j));
    for (int64_t c = 0; c < shape.key_dim; ++c)
      kernels.add_scaled(S + c * shape.value_dim, left * row(k, j)[h * shape.key_dim + c],
                         row(v, j) + h * shape.value_dim, shape.value_dim);
  }
}

float* head_state(const RecurrentState& state, const Gla& shape, int64_t h) {
  return floats(*state.state) + h * shape.key_dim * shape.value_dim;
}

}  // namespace

Tensor CpuBackend::gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) {
  check(q, k, v, shape);
  const Tensor o = scratch(q.rows, v.cols);
  parallel(shape.heads,
           [&](int64_t h) { intra_chunk_into(kernels_, o, q, k, v, shape, h, head_state(state, shape, h)); });
  return o;
}

void CpuBackend::gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  parallel(shape.heads, [&](int64_t h) { update_state(kernels_, head_state(state, shape, h), k, v, shape, h); });
}

Tensor CpuBackend::gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  check(q, k, v, shape);
  const Tensor o = scratch(q.rows, v.cols);
  parallel(shape.heads, [&](int64_t h) {
    kernels_.gla({.S = head_state(state, shape, h),
                  .key_dim = shape.key_dim,
                  .value_dim = shape.value_dim,
                  .q = data(q) + h * shape.key_dim,
                  .k = data(k) + h * shape.key_dim,
                  .v = data(v) + h * shape.value_dim,
                  .q_stride = q.stride,
                  .k_stride = k.stride,
                  .v_stride = v.stride,
                  .tokens = q.rows,
                  .decay = std::exp(-floats(shape.slopes)[h]),
                  .scale = shape.scale,
                  .o = data(o) + h * shape.value_dim,
                  .o_stride = o.stride});
  });
  return o;
}

// The kernels take many tokens in chunks (vector_chunks.h).
Tensor CpuBackend::gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  return gla_decode(q, k, v, shape, state);
}

}  // namespace longhand::cpu
