// Kernel arguments from the operands of the contract: the structs of params.h, filled in once for every
// GPU. The launch around it (threads, bindings, splits) is each back end's own.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

#include "ops/backend.h"
#include "ops/params.h"

namespace longhand {

inline uint32_t narrow(int64_t value) {
  assert(value >= 0 && value <= UINT32_MAX);
  return static_cast<uint32_t>(value);
}

namespace kernel_args {

// Columns of the packed projection: q (with gates between them); k and v follow.
inline int64_t query_columns(const Qkv& qkv) { return qkv.heads.query * qkv.heads.dim * (qkv.gated ? 2 : 1); }

// p [T, q | k | v]. Where the rows go in a cache is left open: nothing is stored.
inline params::RopeParams rope(const Tensor& p, const Qkv& qkv, const Rope& rope, size_t positions) {
  const bool axes = static_cast<int64_t>(positions) == 3 * p.rows;
  assert(qkv.heads.dim <= gpu_shapes.head);
  assert(rope.rotary_dim == 0 || axes || static_cast<int64_t>(positions) == p.rows);
  return {.tokens = narrow(p.rows),
          .query = narrow(qkv.heads.query),
          .kv = narrow(qkv.heads.kv),
          .rotary_dim = narrow(rope.rotary_dim),
          .p_stride = narrow(p.stride),
          .q_stride = 0,
          .position_axes = axes ? 3u : 1u,
          .section_h = narrow(rope.sections[1]),
          .section_w = narrow(rope.sections[2]),
          .first_row = 0,
          .row_bytes = 0,
          .head_bytes = 0,
          .eps = qkv.q_norm ? qkv.q_norm->eps : 0.0f,
          .key_eps = qkv.k_norm ? qkv.k_norm->eps : 0.0f,
          .attention_scale = rope.attention_scale};
}

// The same, with rotated queries in q and k, v appended to the cache from row `first` of what is bound.
inline params::RopeParams rope_store(const Tensor& p, const Qkv& qkv, const Rope& rope_of, size_t positions,
                                     const Tensor& q, const KvCache& cache, int64_t first) {
  const Heads& heads = qkv.heads;
  assert(p.cols == query_columns(qkv) + 2 * heads.kv * heads.dim);
  assert(cache.length + p.rows <= cache.capacity && cache.layout.heads == heads.kv && cache.layout.dim == heads.dim);
  params::RopeParams out = rope(p, qkv, rope_of, positions);
  out.q_stride = narrow(q.stride);
  out.first_row = narrow(first);
  out.row_bytes = narrow(cache_row_bytes(cache.type, heads.kv, heads.dim));
  out.head_bytes = narrow(cache_row_bytes(cache.type, 1, heads.dim));
  return out;
}

// Causal attention over a cache; `splits` is the back end's.
inline params::AttentionParams attention(const Tensor& q, const Tensor& o, const Heads& heads, const KvCache& cache,
                                         float scale) {
  assert(q.cols == heads.query * heads.dim && q.rows <= cache.length && heads.dim <= gpu_shapes.head);
  return {.tokens = narrow(q.rows),
          .query = narrow(heads.query),
          .group = narrow(heads.query / heads.kv),
          .q_stride = narrow(q.stride),
          .o_stride = narrow(o.stride),
          .first_visible = narrow(cache.length - q.rows + 1),
          .splits = 1,
          .split_keys = 0,
          .key_row_bytes = narrow(cache_row_bytes(cache.type, heads.kv, heads.dim)),
          .head_bytes = narrow(cache_row_bytes(cache.type, 1, heads.dim)),
          .topk = 0,
          .block = 1,
          .scale = scale};
}

// An encoder's keys and values are columns of the packed projection p [T, q | k | v]: a cache of fp32 rows like any
// other.
inline params::AttentionParams bidirectional(const Tensor& p, const Tensor& o, const Heads& heads, float scale) {
  assert(p.cols == (heads.query + 2 * heads.kv) * heads.dim && heads.dim <= gpu_shapes.head);
  return {.tokens = narrow(p.rows),
          .query = narrow(heads.query),
          .group = narrow(heads.query / heads.kv),
          .q_stride = narrow(p.stride),
          .o_stride = narrow(o.stride),
          .first_visible = narrow(p.rows),
          .splits = 1,
          .split_keys = 0,
          .key_row_bytes = narrow(p.stride * static_cast<int64_t>(sizeof(float))),
          .head_bytes = narrow(heads.dim * static_cast<int64_t>(sizeof(float))),
          .topk = 0,
          .block = 1,
          .scale = scale};
}

// Texts of `lengths` rows one after the other in p [T, q | k | v] and o [T, heads * dim]: visit(text, q, k, v, o,
// params) with the rows of each.
template <class Visit>
void each_text(Tensor p, Tensor o, const Attention& shape, std::span<const int32_t> lengths, const Visit& visit) {
  const auto [query, kv, dim] = shape.heads;
  int64_t first = 0;
  for (const int32_t length : lengths) {
    const Tensor text = p.row_range(first, length), out = o.row_range(first, length);
    visit(text, text.columns(0, query * dim), text.columns(query * dim, kv * dim),
          text.columns((query + kv) * dim, kv * dim), out, bidirectional(text, out, shape.heads, shape.scale));
    first += length;
  }
}

// kScaleType of a matrix of latent attention.
inline uint32_t element_type(const PlainMatrix& matrix) {
  return matrix.type == DType::f32 ? 0 : matrix.type == DType::f16 ? 1 : 2;
}

inline params::MlaParams mla(const Tensor& p, const Tensor& o, const MlaAttention& shape, size_t positions,
                             const LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const auto [rope_width, latent_width] = cache.layout;
  assert(rope_width == kv * shape.rope_dim && p.cols == query * dim + rope_width + latent_width);
  assert(cache.length + p.rows <= cache.capacity && static_cast<int64_t>(positions) >= p.rows);
  return {.tokens = narrow(p.rows),
          .query = narrow(query),
          .kv = narrow(kv),
          .dim = narrow(dim),
          .rope_dim = narrow(shape.rope_dim),
          .latent_k = narrow(shape.latent_k),
          .latent_v_first = narrow(shape.latent_v_first),
          .latent_v = narrow(shape.latent_v),
          .rope_width = narrow(rope_width),
          .latent_width = narrow(latent_width),
          .p_stride = narrow(p.stride),
          .o_stride = narrow(o.stride),
          .past = narrow(cache.length),
          .rope_row_bytes = narrow(cache_row_bytes(cache.type, 1, rope_width)),
          .latent_row_bytes = narrow(cache_row_bytes(cache.type, 1, latent_width)),
          .scale = shape.scale,
          .attention_scale = shape.rope.attention_scale};
}

inline params::GatedDeltaParams gated_delta(const Tensor& p, const Tensor& o, const GatedDelta& w,
                                            const ConvState& conv) {
  assert(p.cols == w.columns() && conv.layout.channels == w.channels() && conv.layout.width == w.conv_width);
  assert(w.key_dim <= gpu_shapes.state && w.conv_width <= gpu_shapes.taps);
  return {.tokens = narrow(p.rows),
          .key_heads = narrow(w.key_heads),
          .value_heads = narrow(w.value_heads),
          .key_dim = narrow(w.key_dim),
          .value_dim = narrow(w.value_dim),
          .p_stride = narrow(p.stride),
          .qkv_stride = 0,
          .o_stride = narrow(o.stride),
          .conv_width = narrow(w.conv_width),
          .l2_eps = w.l2_eps,
          .norm_eps = w.norm.eps};
}

inline params::GlaParams gla(const Gla& shape, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o) {
  assert(shape.key_dim <= gpu_shapes.state && shape.value_dim <= gpu_shapes.state);
  return {.tokens = narrow(k.rows),
          .heads = narrow(shape.heads),
          .key_dim = narrow(shape.key_dim),
          .value_dim = narrow(shape.value_dim),
          .q_stride = narrow(q.stride),
          .k_stride = narrow(k.stride),
          .v_stride = narrow(v.stride),
          .o_stride = narrow(o.stride),
          .scale = shape.scale};
}

// ---- InfLLM-v2 (arXiv 2509.24663) ---------------------------------------------------------------------------------

// Means of windows from `first` of what is bound on.
inline params::CompressParams compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t first) {
  const auto [heads, dim] = cache.layout;
  return {.first = narrow(first),
          .kernel_size = narrow(kernel),
          .stride = narrow(stride),
          .heads = narrow(heads),
          .dim = narrow(dim),
          .row_bytes = narrow(cache_row_bytes(cache.type, heads, dim)),
          .head_bytes = narrow(cache_row_bytes(cache.type, 1, dim))};
}

// `scores` and `blocks`: rows of scratch memory, one a (token, key/value head).
inline params::SelectParams select(const Tensor& q, const CompressedKeys& compressed, const BlockSparse& shape,
                                   int64_t first_position, const Tensor& scores, const Tensor& blocks) {
  const auto [query, kv, dim] = shape.heads;
  assert(q.cols == query * dim);
  return {.tokens = narrow(q.rows),
          .query = narrow(query),
          .kv = narrow(kv),
          .dim = narrow(dim),
          .q_stride = narrow(q.stride),
          .k1_length = narrow(compressed.k1_length),
          .k2_length = narrow(compressed.k2_length),
          .kernel_size = narrow(shape.kernel),
          .stride = narrow(shape.stride),
          .block = narrow(shape.block),
          .init_blocks = narrow(shape.init_blocks),
          .local_blocks = narrow(shape.window / shape.block),
          .topk = narrow(shape.effective_topk()),
          .first_position = narrow(first_position),
          .scores_stride = narrow(scores.stride),
          .blocks_stride = narrow(blocks.stride),
          .scale = shape.scale};
}

}  // namespace kernel_args

}  // namespace longhand
