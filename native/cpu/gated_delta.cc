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

void norm_query_and_key(const Kernels& kernels, const GatedDelta& w, float* q, float* k) {
  l2_norm(kernels, q, w.key_dim, w.l2_eps, 1.0f / std::sqrt(static_cast<float>(w.key_dim)));
  l2_norm(kernels, k, w.key_dim, w.l2_eps, 1.0f);
}

int64_t key_head_of(const GatedDelta& w, int64_t head) {
  return w.head_map == GatedDelta::HeadMap::grouped ? head / (w.value_heads / w.key_heads) : head % w.key_heads;
}

// Columns of p.
int64_t first_z(const GatedDelta& w) { return w.channels(); }
int64_t first_b(const GatedDelta& w) { return first_z(w) + w.value_heads * w.value_dim; }
int64_t first_a(const GatedDelta& w) { return first_b(w) + w.value_heads; }

// Of one head and the row `p` of its token.
float decay_of(const GatedDelta& w, const float* p, int64_t head) {
  return std::exp(floats(w.decay)[head] * softplus(p[first_a(w) + head] + floats(w.dt_bias)[head]));
}
float beta_of(const GatedDelta& w, const float* p, int64_t head) { return sigmoid(p[first_b(w) + head]); }

}  // namespace

Tensor CpuBackend::gated_delta(Tensor p, const GatedDelta& w, ConvState& conv, RecurrentState& state) {
  assert(p.cols == w.columns() && conv.layout.channels == w.channels() && conv.layout.width == w.conv_width);
  if (p.rows == 1) {
    const DeltaMemory memory{&conv, &state};
    return gated_delta_each(p, w, {&memory, 1});
  }
  const int64_t key_dim = w.key_dim, value_dim = w.value_dim;
  const int64_t keys = w.key_heads * key_dim, values = w.value_heads * value_dim;
  const Tensor qkv = conv_silu(p, *w.conv, conv);
  const Tensor gates = scratch(p.rows, 2 * w.value_heads);  // exp(g), then beta
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < w.key_heads; ++h)
      norm_query_and_key(kernels_, w, row(qkv, t) + h * key_dim, row(qkv, t) + keys + h * key_dim);
    for (int64_t h = 0; h < w.value_heads; ++h) {
      row(gates, t)[h] = decay_of(w, row(p, t), h);
      row(gates, t)[w.value_heads + h] = beta_of(w, row(p, t), h);
    }
  });

  const Tensor o = scratch(p.rows, values);
  const int64_t tiles = (value_dim + column_tile - 1) / column_tile;
  parallel(w.value_heads * tiles, [&](int64_t item) {
    const int64_t h = item / tiles, first = item % tiles * column_tile;
    const int64_t key_head = key_head_of(w, h);
    kernels_.delta({.S = floats(*state.state) + h * key_dim * value_dim,
                    .key_dim = key_dim,
                    .value_dim = value_dim,
                    .first = first,
                    .count = std::min(column_tile, value_dim - first),
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
    kernels_.multiply_silu(row(o, t), row(p, t) + first_z(w), values);
  });
  return o;
}

// Whole heads, one after the other in memory: what takes long is to fetch the states, at half the speed when two
// threads take every other piece of a row, and threads wait for one another only once.
Tensor CpuBackend::gated_delta_each(Tensor p, const GatedDelta& w, std::span<const DeltaMemory> memories) {
  assert(p.rows == static_cast<int64_t>(memories.size()));
  const int64_t key_dim = w.key_dim, value_dim = w.value_dim, keys = w.key_heads * key_dim;
  const Tensor qkv = convolve_each(p, *w.conv, memories);
  const Tensor o = scratch(p.rows, w.value_heads * value_dim);
  const Tensor normed = scratch(p.rows * w.value_heads, 2 * key_dim);  // value heads may share a query and a key
  const int64_t heads = p.rows * w.value_heads, state_size = key_dim * value_dim;
  const auto state_of = [&](int64_t item) -> float* {
    const RecurrentState& state = *memories[static_cast<size_t>(item / w.value_heads)].state;
    return floats(*state.state) + item % w.value_heads * state_size;
  };
  parallel(heads, [&](int64_t item) {
    const int64_t t = item / w.value_heads, h = item % w.value_heads, key_head = key_head_of(w, h);
    float *q = row(normed, item), *k = q + key_dim;
    std::copy_n(row(qkv, t) + key_head * key_dim, key_dim, q);
    std::copy_n(row(qkv, t) + keys + key_head * key_dim, key_dim, k);
    norm_query_and_key(kernels_, w, q, k);
    const float decay = decay_of(w, row(p, t), h), beta = beta_of(w, row(p, t), h);
    const int64_t next = item + threads_.count();
    float* to = row(o, t) + h * value_dim;
    kernels_.delta({.S = state_of(item),
                    .key_dim = key_dim,
                    .value_dim = value_dim,
                    .count = value_dim,
                    .q = q,
                    .k = k,
                    .v = row(qkv, t) + 2 * keys + h * value_dim,
                    .tokens = 1,
                    .decay = &decay,
                    .beta = &beta,
                    .o = to,
                    .next = next < heads ? state_of(next) : nullptr});
    kernels_.rms_norm(to, floats(w.norm.weight), w.norm.eps, value_dim, to);
    kernels_.multiply_silu(to, row(p, t) + first_z(w) + h * value_dim, value_dim);
  });
  return o;
}

}  // namespace longhand::cpu
