// Latent attention (MHA2MLA, model-specs 14.5), absorbed: the cache holds the rotated part of the keys and a latent
// vector; W_up_k moves into the query, W_up_v behind the weighted sum of latents.
//   score = scale * (q_rope . k_rope + (W_up_k^T q_rest) . latent)        o = W_up_v sum_j p_j latent_j
#include "params.h"
#include "cache.h"
#include "instantiate.h"

constant constexpr uint SIMDGROUPS = 4;
constant constexpr uint MAX_ROW = 1024;     // rope keys, or latents, of one token
constant constexpr uint MAX_PER_LANE = 16;  // latent values a lane: 512

// Dim j of the kept ones, rotated: rotate-half inside them (j with j + n / 2), each with the angle of the dim it is
// from.
static inline float rotated(
    threadgroup const float* x,
    device const int* kept,
    device const float* inv_freq,
    float position,
    uint j,
    constant LatentParams& p) {
  const uint half_dims = p.rope_dim / 2;
  const float angle = position * inv_freq[uint(kept[j]) % (p.dim / 2)];
  const float c = precise::cos(angle), s = precise::sin(angle);
  const float value = j < half_dims ? x[j] * c - x[j + half_dims] * s : x[j] * c + x[j - half_dims] * s;
  return value * p.attention_scale;
}

// Rotates and appends the rope keys (first threadgroup of a token) and the latents (second).
template <class L>
[[kernel]] void latent_store(
    device const float* projected [[buffer(0)]],  // [tokens, q | k_rope | latent]
    device const int* kept [[buffer(1)]],         // [kv, rope_dim]
    device const float* inv_freq [[buffer(2)]],
    device const int* positions [[buffer(3)]],
    device uchar* rope_keys [[buffer(4)]],
    device uchar* latents [[buffer(5)]],
    constant LatentParams& p [[buffer(6)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float raw[MAX_ROW];
  threadgroup float values[MAX_ROW];
  const uint token = group.y;
  const bool is_rope = group.x == 0;
  const uint width = is_rope ? p.rope_width : p.latent_width;
  device const float* from = projected + ulong(token) * p.p_stride + p.query * p.dim + (is_rope ? 0 : p.rope_width);
  for (uint i = lane; i < width; i += 32) raw[i] = from[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = lane; i < width; i += 32) {
    const uint first = i / p.rope_dim * p.rope_dim;
    values[i] = is_rope ? rotated(raw + first, kept + first, inv_freq, float(positions[token]), i - first, p) : raw[i];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (is_rope) L::store(rope_keys + ulong(p.past + token) * p.rope_row_bytes, values, width, lane);
  else L::store(latents + ulong(p.past + token) * p.latent_row_bytes, values, width, lane);
}
INSTANTIATE(latent_store)

// One threadgroup a query head of a token.
template <class L>
[[kernel]] void latent_attention(
    device const float* projected [[buffer(0)]],
    device const float* up_k [[buffer(1)]],  // [kv * rest, latent_k]
    device const float* up_v [[buffer(2)]],  // [kv * dim, latent_v]
    device const int* kept [[buffer(3)]],
    device const int* rest [[buffer(4)]],  // [kv, dim - rope_dim]
    device const float* inv_freq [[buffer(5)]],
    device const int* positions [[buffer(6)]],
    device const uchar* rope_keys [[buffer(7)]],
    device const uchar* latents [[buffer(8)]],
    device float* o [[buffer(9)]],  // [tokens, query * dim]
    constant LatentParams& p [[buffer(10)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float raw[512];           // the kept dims of the query
  threadgroup float absorbed[MAX_ROW];  // rope part, then W_up_k^T of the rest
  threadgroup float parts[SIMDGROUPS * (MAX_PER_LANE * 32 + 2)];
  const uint token = group.y, h = group.x, g = h / (p.query / p.kv), rest_dim = p.dim - p.rope_dim;
  const uint threads = SIMDGROUPS * 32, visible = p.past + token + 1, part_size = p.latent_v + 2;
  device const float* query = projected + ulong(token) * p.p_stride + h * p.dim;
  device const int* kept_g = kept + g * p.rope_dim;
  for (uint j = thread_index; j < p.rope_dim; j += threads) raw[j] = query[kept_g[j]];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = thread_index; j < p.rope_dim; j += threads)
    absorbed[j] = rotated(raw, kept_g, inv_freq, float(positions[token]), j, p);
  for (uint c = thread_index; c < p.latent_k; c += threads) {
    float sum = 0;
    for (uint r = 0; r < rest_dim; r++)
      sum += query[rest[g * rest_dim + r]] * up_k[ulong(g * rest_dim + r) * p.latent_k + c];
    absorbed[p.rope_dim + c] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float sums[MAX_PER_LANE];
  const uint per_lane = (p.latent_v + 31) / 32;
  for (uint i = 0; i < per_lane; i++) sums[i] = 0;
  float largest = -INFINITY, total = 0;
  for (uint j = simdgroup; j < visible; j += SIMDGROUPS) {
    device const uchar* rope_row = rope_keys + ulong(j) * p.rope_row_bytes;
    device const uchar* latent_row = latents + ulong(j) * p.latent_row_bytes;
    float score = 0;
    for (uint i = lane; i < p.rope_dim; i += 32) score += absorbed[i] * L::load(rope_row, g * p.rope_dim + i);
    for (uint i = lane; i < p.latent_k; i += 32) score += absorbed[p.rope_dim + i] * L::load(latent_row, i);
    score = p.scale * simd_sum(score);
    const float peak = max(largest, score), keep = exp(largest - peak), weight = exp(score - peak);
    largest = peak;
    total = total * keep + weight;
    for (uint i = 0; i < per_lane; i++)
      if (i * 32 + lane < p.latent_v)
        sums[i] = sums[i] * keep + weight * L::load(latent_row, p.latent_v_first + i * 32 + lane);
  }
  threadgroup float* mine = parts + simdgroup * part_size;
  for (uint i = 0; i < per_lane; i++)
    if (i * 32 + lane < p.latent_v) mine[i * 32 + lane] = sums[i];
  if (lane == 0) {
    mine[p.latent_v] = largest;
    mine[p.latent_v + 1] = total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float peak = -INFINITY, all = 0;
  for (uint s = 0; s < SIMDGROUPS; s++) peak = max(peak, parts[s * part_size + p.latent_v]);
  for (uint s = 0; s < SIMDGROUPS; s++) {
    const float part = parts[s * part_size + p.latent_v];
    all += part == -INFINITY ? 0.0f : parts[s * part_size + p.latent_v + 1] * exp(part - peak);
  }
  for (uint c = thread_index; c < p.latent_v; c += threads) {  // the weighted latent, in place of the absorbed query
    float value = 0;
    for (uint s = 0; s < SIMDGROUPS; s++) {
      const float part = parts[s * part_size + p.latent_v];
      if (part != -INFINITY) value += parts[s * part_size + c] * exp(part - peak);
    }
    absorbed[c] = value / all;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = thread_index; i < p.dim; i += threads) {
    float sum = 0;
    for (uint c = 0; c < p.latent_v; c++) sum += up_v[ulong(g * p.dim + i) * p.latent_v + c] * absorbed[c];
    o[ulong(token) * p.o_stride + h * p.dim + i] = sum;
  }
}
INSTANTIATE(latent_attention)
