// Between the qkv projection and attention: q/k norm, rotary positions, appending to the cache.
#include <algorithm>
#include <cmath>

#include "cpu/attention/cache.h"
#include "cpu/backend.h"

namespace longhand::cpu {
namespace {

// M-RoPE, interleaved sections (modeling_qwen3_5.py): which axis (0 t, 1 h, 2 w) frequency j follows.
int axis_of(const Rope& rope, int64_t j) {
  if (j % 3 == 1 && j < 3 * rope.sections[1]) return 1;
  if (j % 3 == 2 && j < 3 * rope.sections[2]) return 2;
  return 0;
}

// q at [head * stride], then k, then v, in columns of p.
struct Columns {
  int64_t query_stride, first_key, first_value;
  explicit Columns(const Qkv& qkv)
      : query_stride(qkv.heads.dim * (qkv.gated ? 2 : 1)),
        first_key(qkv.heads.query * query_stride),
        first_value(first_key + qkv.heads.kv * qkv.heads.dim) {}
};

}  // namespace

const float* CpuBackend::rope_angles(const Rope& rope, std::span<const int32_t> positions, int64_t tokens) {
  if (rope.rotary_dim == 0) return nullptr;
  const bool axes = static_cast<int64_t>(positions.size()) == 3 * tokens;
  assert(axes || static_cast<int64_t>(positions.size()) == tokens);
  for (const Angles& known : angles_)
    if (known.inv_freq == rope.inv_freq.get() && known.scale == rope.attention_scale &&
        std::equal(positions.begin(), positions.end(), known.positions.begin(), known.positions.end()))
      return known.values.data();
  std::vector<float> values(static_cast<size_t>(tokens * rope.rotary_dim));
  const int64_t half = rope.rotary_dim / 2;
  parallel(tokens, [&](int64_t t) {
    for (int64_t j = 0; j < half; ++j) {
      const int64_t axis = axes ? axis_of(rope, j) : 0;
      const auto position = static_cast<float>(positions[static_cast<size_t>(axis * tokens + t)]);
      const float angle = position * floats(rope.inv_freq)[j];
      values[static_cast<size_t>(t * rope.rotary_dim + j)] = std::cos(angle) * rope.attention_scale;
      values[static_cast<size_t>(t * rope.rotary_dim + half + j)] = std::sin(angle) * rope.attention_scale;
    }
  });
  angles_.push_back(
      {rope.inv_freq.get(), rope.attention_scale, {positions.begin(), positions.end()}, std::move(values)});
  return angles_.back().values.data();
}

namespace {

void rotate(const Rope& rope, const float* cosines, float* head) {
  const int64_t half = rope.rotary_dim / 2;
  const float* sines = cosines + half;
  if (rope.pairing == Rope::Pairing::half) {
    for (int64_t j = 0; j < half; ++j) {
      const float x = head[j], y = head[j + half];
      head[j] = x * cosines[j] - y * sines[j];
      head[j + half] = y * cosines[j] + x * sines[j];
    }
    return;
  }
  for (int64_t j = 0; j < half; ++j) {
    const float x = head[2 * j], y = head[2 * j + 1];
    head[2 * j] = x * cosines[j] - y * sines[j];
    head[2 * j + 1] = y * cosines[j] + x * sines[j];
  }
}

void norm_and_rotate(const Kernels& kernels, const Norm* norm, const Rope& rope, const float* angles, int64_t t,
                     int64_t dim, float* head) {
  if (norm) kernels.rms_norm(head, floats(norm->weight), norm->eps, dim, head);
  if (rope.rotary_dim) rotate(rope, angles + t * rope.rotary_dim, head);
}

}  // namespace

Tensor CpuBackend::qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                                      KvCache& cache) {
  const Heads& heads = qkv.heads;
  const Columns columns(qkv);
  assert(p.cols == columns.first_value + heads.kv * heads.dim);
  assert(cache.length + p.rows <= cache.capacity && cache.layout.heads == heads.kv && cache.layout.dim == heads.dim);
  const Tensor q = scratch(p.rows, heads.query * heads.dim);
  const float* angles = rope_angles(rope, positions, p.rows);
  const Tensor keys = scratch(p.rows, heads.kv * heads.dim);
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < heads.query; ++h) {
      float* head = row(q, t) + h * heads.dim;
      std::copy_n(row(p, t) + h * columns.query_stride, heads.dim, head);
      norm_and_rotate(kernels_, qkv.q_norm, rope, angles, t, heads.dim, head);
    }
    for (int64_t h = 0; h < heads.kv; ++h) {
      float* head = row(keys, t) + h * heads.dim;
      std::copy_n(row(p, t) + columns.first_key + h * heads.dim, heads.dim, head);
      norm_and_rotate(kernels_, qkv.k_norm, rope, angles, t, heads.dim, head);
      const auto slot = [&](Buffer& buffer) {
        return cache_head(cache.type, buffer.host(), cache.length + t, heads.kv, heads.dim, h);
      };
      store_head(kernels_, cache.type, head, heads.dim, slot(*cache.keys));
      store_head(kernels_, cache.type, row(p, t) + columns.first_value + h * heads.dim, heads.dim, slot(*cache.values));
    }
  });
  cache.length += p.rows;
  return q;
}

void CpuBackend::qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) {
  const Heads& heads = qkv.heads;
  const Columns columns(qkv);
  assert(p.cols >= columns.first_value);
  const float* angles = rope_angles(rope, positions, p.rows);
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < heads.query + heads.kv; ++h) {
      const bool query = h < heads.query;
      float* head = row(p, t) + (query ? h * columns.query_stride : columns.first_key + (h - heads.query) * heads.dim);
      norm_and_rotate(kernels_, query ? qkv.q_norm : qkv.k_norm, rope, angles, t, heads.dim, head);
    }
  });
}

Tensor CpuBackend::gate_columns(Tensor p, const Qkv& qkv) {
  assert(qkv.gated);
  const int64_t dim = qkv.heads.dim;
  const Tensor gates = scratch(p.rows, qkv.heads.query * dim);
  parallel(p.rows, [&](int64_t t) {
    for (int64_t h = 0; h < qkv.heads.query; ++h)
      std::copy_n(row(p, t) + (2 * h + 1) * dim, dim, row(gates, t) + h * dim);
  });
  return gates;
}

}  // namespace longhand::cpu
