// Between the qkv projection and attention: q/k norm, rotary positions, appending to the cache.
#include "cpu/rope.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/backend.h"
#include "cpu/cache.h"
#include "cpu/norm.h"

namespace longhand::cpu {
namespace {

// M-RoPE, interleaved sections (model-specs 8.5): which axis (0 t, 1 h, 2 w) frequency j follows.
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

void norm_head(const Norm* norm, int64_t dim, float* head) {
  if (norm) rms_norm_row(head, floats(norm->weight), norm->eps, dim, head);
}

}  // namespace

void rope_angles(const Rope& rope, std::span<const int32_t> positions, int64_t tokens, int64_t token, float* cosines,
                 float* sines) {
  const bool axes = static_cast<int64_t>(positions.size()) == 3 * tokens;
  assert(rope.rotary_dim == 0 || axes || static_cast<int64_t>(positions.size()) == tokens);
  for (int64_t j = 0; j < rope.rotary_dim / 2; ++j) {
    const int64_t axis = axes ? axis_of(rope, j) : 0;
    const float angle =
        static_cast<float>(positions[static_cast<size_t>(axis * tokens + token)]) * floats(rope.inv_freq)[j];
    cosines[j] = std::cos(angle) * rope.attention_scale;
    sines[j] = std::sin(angle) * rope.attention_scale;
  }
}

void rotate(const Rope& rope, const float* cosines, const float* sines, float* head) {
  const int64_t half = rope.rotary_dim / 2;
  const bool interleaved = rope.pairing == Rope::Pairing::interleaved;
  for (int64_t j = 0; j < half; ++j) {
    float& a = head[interleaved ? 2 * j : j];
    float& b = head[interleaved ? 2 * j + 1 : j + half];
    const float x = a, y = b;
    a = x * cosines[j] - y * sines[j];
    b = y * cosines[j] + x * sines[j];
  }
}

Tensor CpuBackend::qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                                      KvCache& cache) {
  const Heads& heads = qkv.heads;
  const Columns columns(qkv);
  assert(p.cols == columns.first_value + heads.kv * heads.dim);
  assert(cache.length + p.rows <= cache.capacity && cache.layout.heads == heads.kv && cache.layout.dim == heads.dim);
  const Tensor q = scratch(p.rows, heads.query * heads.dim);
  const Tensor angles = scratch(p.rows, std::max<int64_t>(rope.rotary_dim, 1));
  const Tensor keys = scratch(p.rows, heads.kv * heads.dim);
  parallel(p.rows, [&](int64_t t) {
    float* cosines = row(angles, t);
    float* sines = cosines + rope.rotary_dim / 2;
    rope_angles(rope, positions, p.rows, t, cosines, sines);
    for (int64_t h = 0; h < heads.query; ++h) {
      float* head = row(q, t) + h * heads.dim;
      std::copy_n(row(p, t) + h * columns.query_stride, heads.dim, head);
      norm_head(qkv.q_norm, heads.dim, head);
      rotate(rope, cosines, sines, head);
    }
    for (int64_t h = 0; h < heads.kv; ++h) {
      float* head = row(keys, t) + h * heads.dim;
      std::copy_n(row(p, t) + columns.first_key + h * heads.dim, heads.dim, head);
      norm_head(qkv.k_norm, heads.dim, head);
      rotate(rope, cosines, sines, head);
      const auto slot = [&](Buffer& buffer) {
        return cache_head(cache.type, buffer.host(), cache.length + t, heads.kv, heads.dim, h);
      };
      store_head(cache.type, head, heads.dim, slot(*cache.keys));
      store_head(cache.type, row(p, t) + columns.first_value + h * heads.dim, heads.dim, slot(*cache.values));
    }
  });
  cache.length += p.rows;
  return q;
}

void CpuBackend::qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) {
  const Heads& heads = qkv.heads;
  const Columns columns(qkv);
  assert(p.cols >= columns.first_value);
  const Tensor angles = scratch(p.rows, std::max<int64_t>(rope.rotary_dim, 1));
  parallel(p.rows, [&](int64_t t) {
    float* cosines = row(angles, t);
    float* sines = cosines + rope.rotary_dim / 2;
    rope_angles(rope, positions, p.rows, t, cosines, sines);
    for (int64_t h = 0; h < heads.query + heads.kv; ++h) {
      const bool query = h < heads.query;
      float* head = row(p, t) + (query ? h * columns.query_stride : columns.first_key + (h - heads.query) * heads.dim);
      norm_head(query ? qkv.q_norm : qkv.k_norm, heads.dim, head);
      rotate(rope, cosines, sines, head);
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
