// Gated DeltaNet (arXiv 2412.06464; model-specs 5.5, 7): convolution, SiLU, L2 norms, gates, delta rule, gated norm.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/activation.h"
#include "cpu/backend.h"
#include "cpu/norm.h"

namespace longhand::cpu {
namespace {

// x <- scale * x / sqrt(sum(x^2) + eps)
void l2_norm(float* x, int64_t n, float eps, float scale) {
  const float factor = scale / std::sqrt(dot(x, x, n) + eps);
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

// One token of one value head. S [key_dim, value_dim]:
//   S <- exp(g) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q
void delta_step(float* S, const float* q, const float* k, const float* v, float g, float beta, int64_t key_dim,
                int64_t value_dim, float* u, float* o) {
  const float decay = std::exp(g);
  std::fill_n(u, value_dim, 0.0f);
  for (int64_t i = 0; i < key_dim; ++i) {
    for (int64_t j = 0; j < value_dim; ++j) {
      S[i * value_dim + j] *= decay;
      u[j] += S[i * value_dim + j] * k[i];
    }
  }
  for (int64_t j = 0; j < value_dim; ++j) u[j] = beta * (v[j] - u[j]);
  std::fill_n(o, value_dim, 0.0f);
  for (int64_t i = 0; i < key_dim; ++i) {
    for (int64_t j = 0; j < value_dim; ++j) {
      S[i * value_dim + j] += k[i] * u[j];
      o[j] += S[i * value_dim + j] * q[i];
    }
  }
}

// o <- rms_norm(o) * w * silu(z)
void gated_norm(float* o, const float* z, const Norm& norm, int64_t n) {
  rms_norm_row(o, floats(norm.weight), norm.eps, n, o);
  for (int64_t j = 0; j < n; ++j) o[j] *= silu(z[j]);
}

}  // namespace

Tensor CpuBackend::gated_delta(Tensor p, const GatedDelta& w, ConvState& conv, RecurrentState& state) {
  const int64_t key_dim = w.key_dim, value_dim = w.value_dim;
  const int64_t keys = w.key_heads * key_dim, values = w.value_heads * value_dim;
  const int64_t first_z = w.channels(), first_b = first_z + values, first_a = first_b + w.value_heads;
  assert(p.cols == w.columns() && conv.layout.channels == w.channels() && conv.layout.width == w.conv_width);
  const Tensor qkv = conv_silu(p, *w.conv, conv);
  const Tensor o = scratch(p.rows, values);
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < w.key_heads; ++h) {
      l2_norm(row(qkv, t) + h * key_dim, key_dim, w.l2_eps, 1.0f / std::sqrt(static_cast<float>(key_dim)));
      l2_norm(row(qkv, t) + keys + h * key_dim, key_dim, w.l2_eps, 1.0f);
    }
  });
  const int64_t group = w.value_heads / w.key_heads;
  parallel(w.value_heads, [&](int64_t h) {
    const int64_t key_head = w.head_map == GatedDelta::HeadMap::grouped ? h / group : h % w.key_heads;
    float* S = floats(*state.state) + h * key_dim * value_dim;
    thread_local std::vector<float> u;
    u.resize(static_cast<size_t>(value_dim));
    for (int64_t t = 0; t < p.rows; ++t) {
      const float* q = row(qkv, t) + key_head * key_dim;
      const float g = floats(w.decay)[h] * softplus(row(p, t)[first_a + h] + floats(w.dt_bias)[h]);
      const float beta = sigmoid(row(p, t)[first_b + h]);
      float* out = row(o, t) + h * value_dim;
      delta_step(S, q, q + keys, row(qkv, t) + 2 * keys + h * value_dim, g, beta, key_dim, value_dim, u.data(), out);
      gated_norm(out, row(p, t) + first_z + h * value_dim, w.norm, value_dim);
    }
  });
  return o;
}

}  // namespace longhand::cpu
