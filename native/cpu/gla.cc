// Simple gated linear attention with a constant decay a head (lightning attention; model-specs 11.4, 12).
//   S <- exp(-s) S + k v^T;  o = scale * S^T q          per head, S [key_dim, value_dim]
// A chunk of n tokens, i, j = 0 .. n - 1:
//   O = scale * (exp(-s (i + 1)) Q S_0 + ((Q K^T) * Gamma) V),  Gamma_ij = exp(-s (i - j)) for j <= i, else 0
//   S_n = exp(-s n) S_0 + sum_j exp(-s (n - 1 - j)) k_j v_j^T
#include <algorithm>
#include <cmath>

#include "cpu/backend.h"
#include "cpu/norm.h"

namespace longhand::cpu {
namespace {

constexpr int64_t chunk = 64;

// y += a * x
void add_scaled(float* y, float a, const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape) {
  assert(q.cols == shape.heads * shape.key_dim && k.cols == q.cols && v.cols == shape.heads * shape.value_dim);
  assert(q.rows == k.rows && k.rows == v.rows);
}

void intra_chunk_into(const Tensor& o, Tensor q, Tensor k, Tensor v, const Gla& shape, int64_t h, const float* S) {
  const auto [key_dim, value_dim] = std::pair(shape.key_dim, shape.value_dim);
  const float slope = floats(shape.slopes)[h];
  for (int64_t i = 0; i < q.rows; ++i) {
    const float* query = row(q, i) + h * key_dim;
    float* out = row(o, i) + h * value_dim;
    std::fill_n(out, value_dim, 0.0f);
    const float decay = std::exp(-slope * static_cast<float>(i + 1));
    for (int64_t c = 0; c < key_dim; ++c) add_scaled(out, decay * query[c], S + c * value_dim, value_dim);
    for (int64_t j = 0; j <= i; ++j) {
      const float gamma = std::exp(-slope * static_cast<float>(i - j));
      add_scaled(out, gamma * dot(query, row(k, j) + h * key_dim, key_dim), row(v, j) + h * value_dim, value_dim);
    }
    for (int64_t c = 0; c < value_dim; ++c) out[c] *= shape.scale;
  }
}

void update_state(float* S, Tensor k, Tensor v, const Gla& shape, int64_t h) {
  const float slope = floats(shape.slopes)[h];
  const float decay = std::exp(-slope * static_cast<float>(k.rows));
  for (int64_t i = 0; i < shape.key_dim * shape.value_dim; ++i) S[i] *= decay;
  for (int64_t j = 0; j < k.rows; ++j) {
    const float left = std::exp(-slope * static_cast<float>(k.rows - 1 - j));
    for (int64_t c = 0; c < shape.key_dim; ++c)
      add_scaled(S + c * shape.value_dim, left * row(k, j)[h * shape.key_dim + c], row(v, j) + h * shape.value_dim,
                 shape.value_dim);
  }
}

float* head_state(const RecurrentState& state, const Gla& shape, int64_t h) {
  return floats(*state.state) + h * shape.key_dim * shape.value_dim;
}

}  // namespace

Tensor CpuBackend::gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) {
  check(q, k, v, shape);
  const Tensor o = scratch(q.rows, v.cols);
  parallel(shape.heads, [&](int64_t h) { intra_chunk_into(o, q, k, v, shape, h, head_state(state, shape, h)); });
  return o;
}

void CpuBackend::gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  parallel(shape.heads, [&](int64_t h) { update_state(head_state(state, shape, h), k, v, shape, h); });
}

Tensor CpuBackend::gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  check(q, k, v, shape);
  const Tensor o = scratch(q.rows, v.cols);
  parallel(shape.heads, [&](int64_t h) {
    float* S = head_state(state, shape, h);
    const float decay = std::exp(-floats(shape.slopes)[h]);
    for (int64_t t = 0; t < q.rows; ++t) {
      float* out = row(o, t) + h * shape.value_dim;
      std::fill_n(out, shape.value_dim, 0.0f);
      for (int64_t c = 0; c < shape.key_dim; ++c) {
        float* s = S + c * shape.value_dim;
        const int64_t at = h * shape.key_dim + c;
        for (int64_t j = 0; j < shape.value_dim; ++j)
          s[j] = decay * s[j] + row(k, t)[at] * row(v, t)[h * shape.value_dim + j];
        add_scaled(out, shape.scale * row(q, t)[at], s, shape.value_dim);
      }
    }
  });
  return o;
}

Tensor CpuBackend::gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  if (q.rows == 1) return gla_decode(q, k, v, shape, state);
  check(q, k, v, shape);
  const Tensor o = scratch(q.rows, v.cols);
  parallel(shape.heads, [&](int64_t h) {
    float* S = head_state(state, shape, h);
    for (int64_t first = 0; first < q.rows; first += chunk) {
      const int64_t n = std::min(chunk, q.rows - first);
      const auto part = [&](const Tensor& x) { return x.row_range(first, n); };
      intra_chunk_into(part(o), part(q), part(k), part(v), shape, h, S);
      update_state(S, part(k), part(v), shape, h);
    }
  });
  return o;
}

}  // namespace longhand::cpu
