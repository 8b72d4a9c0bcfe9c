// Gated DeltaNet (arXiv 2412.06464; modeling_qwen3_5.py): convolution, SiLU, L2 norms, gates, delta rule, gated norm.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/activation.h"
#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"

namespace longhand::cpu {

// Per token:  S <- exp(g) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q
void scalar::delta(const DeltaTile& tile) {
  std::vector<float> u(static_cast<size_t>(tile.count));
  for (int64_t t = 0; t < tile.tokens; ++t) {
    const float* q = tile.q + t * tile.stride;
    const float* k = tile.k + t * tile.stride;
    const float* v = tile.v + t * tile.stride + tile.first;
    float* o = tile.o + t * tile.o_stride + tile.first;
    const float decay = tile.decay[t * tile.gate_stride], beta = tile.beta[t * tile.gate_stride];
    std::fill(u.begin(), u.end(), 0.0f);
    for (int64_t i = 0; i < tile.key_dim; ++i) {
      float* s = tile.S + i * tile.value_dim + tile.first;
      for (int64_t j = 0; j < tile.count; ++j) {
        s[j] *= decay;
        u[static_cast<size_t>(j)] += s[j] * k[i];
      }
    }
    for (int64_t j = 0; j < tile.count; ++j) u[static_cast<size_t>(j)] = beta * (v[j] - u[static_cast<size_t>(j)]);
    std::fill_n(o, tile.count, 0.0f);
    for (int64_t i = 0; i < tile.key_dim; ++i) {
      float* s = tile.S + i * tile.value_dim + tile.first;
      for (int64_t j = 0; j < tile.count; ++j) {
        s[j] += k[i] * u[static_cast<size_t>(j)];
        o[j] += s[j] * q[i];
      }
    }
  }
}

namespace {

constexpr int64_t column_tile = 64;  // 128 keys by 64 columns of S are 32 KB: they stay in the first-level cache

// x <- scale * x / sqrt(sum(x^2) + eps)
void l2_norm(const Kernels& kernels, float* x, int64_t n, float eps, float scale) {
  const float factor = scale / std::sqrt(kernels.dot(x, x, n) + eps);
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

}  // namespace

Tensor CpuBackend::gated_delta(Tensor p, const GatedDelta& w, ConvState& conv, RecurrentState& state) {
  const int64_t key_dim = w.key_dim, value_dim = w.value_dim;
  const int64_t keys = w.key_heads * key_dim, values = w.value_heads * value_dim;
  const int64_t first_z = w.channels(), first_b = first_z + values, first_a = first_b + w.value_heads;
  assert(p.cols == w.columns() && conv.layout.channels == w.channels() && conv.layout.width == w.conv_width);
  const Tensor qkv = conv_silu(p, *w.conv, conv);
  const Tensor gates = scratch(p.rows, 2 * w.value_heads);  // exp(g), then beta
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < w.key_heads; ++h) {
      l2_norm(kernels_, row(qkv, t) + h * key_dim, key_dim, w.l2_eps, 1.0f / std::sqrt(static_cast<float>(key_dim)));
      l2_norm(kernels_, row(qkv, t) + keys + h * key_dim, key_dim, w.l2_eps, 1.0f);
    }
    for (int64_t h = 0; h < w.value_heads; ++h) {
      const float g = floats(w.decay)[h] * softplus(row(p, t)[first_a + h] + floats(w.dt_bias)[h]);
      row(gates, t)[h] = std::exp(g);
      row(gates, t)[w.value_heads + h] = sigmoid(row(p, t)[first_b + h]);
    }
  });

  const Tensor o = scratch(p.rows, values);
  // A state that is gone through once comes from memory: whole heads, since two threads that share one fetch every
  // other piece of its rows, at half the speed.
  const int64_t width = p.rows == 1 && w.value_heads >= threads_.count() ? value_dim : column_tile;
  const int64_t group = w.value_heads / w.key_heads, tiles = (value_dim + width - 1) / width;
  parallel(w.value_heads * tiles, [&](int64_t item) {
    const int64_t h = item / tiles, first = item % tiles * width;
    const int64_t key_head = w.head_map == GatedDelta::HeadMap::grouped ? h / group : h % w.key_heads;
    kernels_.delta({.S = floats(*state.state) + h * key_dim * value_dim,
                    .key_dim = key_dim,
                    .value_dim = value_dim,
                    .first = first,
                    .count = std::min(width, value_dim - first),
                    .q = data(qkv) + key_head * key_dim,
                    .k = data(qkv) + keys + key_head * key_dim,
                    .v = data(qkv) + 2 * keys + h * value_dim,
                    .stride = qkv.stride,
                    .tokens = p.rows,
                    .decay = data(gates) + h,
                    .beta = data(gates) + w.value_heads + h,
                    .gate_stride = gates.stride,
                    .o = data(o) + h * value_dim,
                    .o_stride = o.stride});
  });
  // o <- rms_norm(o) * w * silu(z)
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < w.value_heads; ++h) {
      float* head = row(o, t) + h * value_dim;
      kernels_.rms_norm(head, floats(w.norm.weight), w.norm.eps, value_dim, head);
    }
    kernels_.multiply_silu(row(o, t), row(p, t) + first_z, values);
  });
  return o;
}

}  // namespace longhand::cpu
