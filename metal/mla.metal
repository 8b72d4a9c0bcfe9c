// Latent attention (MHA2MLA, arXiv 2502.14837), absorbed: the cache holds the rotated part of the keys and a latent
// vector; W_up_k moves into the query, W_up_v behind the weighted sum of latents.
//   score = scale * (q_rope . k_rope + (W_up_k^T q_rest) . latent)        o = W_up_v sum_j p_j latent_j
// Four kernels, of which the first two need nothing of each other: store, absorb, attention, expand. No row is kept
// whole in threadgroup memory, so a latent may be of any width (published checkpoints: 24 to 8192).
#include "params.h"
#include "shared/blocks.h"
#include "shared/cache.h"
#include "shared/instantiate.h"

constant constexpr uint SIMDGROUPS = 4;
constant constexpr uint PER_LANE = kLatentSlice / 32;  // latent values a lane

// Element i of W_up_k or W_up_v, read in the layout of their file.
static inline float element(device const uchar* matrix, uint i) { return group_value(matrix, 0, i); }

// A retained dim, rotated by the angle of the dim it is from. `other` is its partner half a turn away, negative for the
// first half of the retained dims.
static inline float
rotated(float value, float other, int original, device const float* inv_freq, float position, constant MlaParams& p) {
  const float angle = position * inv_freq[uint(original) % (p.dim / 2)];
  return (value * precise::cos(angle) + other * precise::sin(angle)) * p.attention_scale;
}

// Rotates and appends the rope keys, then the latents: a simdgroup a slice of a token's row.
template <class L>
[[kernel]] void mla_store(
    device const float* projected [[buffer(0)]],  // [tokens, q | k_rope | latent]
    device const int* retained [[buffer(1)]],     // [kv, rope_dim]
    device const float* inv_freq [[buffer(2)]],
    device const int* positions [[buffer(3)]],
    device uchar* rope_keys [[buffer(4)]],
    device uchar* latents [[buffer(5)]],
    constant MlaParams& p [[buffer(6)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float values[kLatentSlice];
  const uint token = group.y, rope_slices = (p.rope_width + kLatentSlice - 1) / kLatentSlice;
  const bool is_rope = group.x < rope_slices;
  const uint start = (is_rope ? group.x : group.x - rope_slices) * kLatentSlice;
  const uint width = min(uint(kLatentSlice), (is_rope ? p.rope_width : p.latent_width) - start);
  device const float* from = projected + ulong(token) * p.p_stride + p.query * p.dim + (is_rope ? 0 : p.rope_width);
  for (uint i = start + lane; i < start + width; i += 32) {
    float value = from[i];
    if (is_rope) {
      const uint half_dims = p.rope_dim / 2;
      const float other = i % p.rope_dim < half_dims ? -from[i + half_dims] : from[i - half_dims];
      value = rotated(value, other, retained[i], inv_freq, float(positions[token]), p);
    }
    values[i - start] = value;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  device uchar* row = is_rope ? rope_keys + ulong(p.past + token) * p.rope_row_bytes
                              : latents + ulong(p.past + token) * p.latent_row_bytes;
  L::store(row + L::bytes(start), values, width, lane);
}
INSTANTIATE(mla_store)

// The query as the cache sees it: rotated retained dims, then W_up_k^T of the rest. A thread an element.
kernel void mla_absorb(
    device const float* projected [[buffer(0)]],
    device const uchar* up_k [[buffer(1)]],  // [kv * rest, latent_k]
    device const int* retained [[buffer(2)]],
    device const int* rest [[buffer(3)]],  // [kv, dim - rope_dim]
    device const float* inv_freq [[buffer(4)]],
    device const int* positions [[buffer(5)]],
    device float* absorbed [[buffer(6)]],  // [tokens, query, rope_dim + latent_k]
    constant MlaParams& p [[buffer(7)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint3 threads [[threads_per_threadgroup]]) {
  const uint i = group.x * threads.x + thread_index, h = group.y, token = group.z, g = h / (p.query / p.kv);
  const uint width = p.rope_dim + p.latent_k, rest_dim = p.dim - p.rope_dim, half_dims = p.rope_dim / 2;
  if (i >= width) return;
  device const float* query = projected + ulong(token) * p.p_stride + h * p.dim;
  device const int* retained_g = retained + g * p.rope_dim;
  float value = 0;
  if (i < p.rope_dim) {
    const float other = i < half_dims ? -query[retained_g[i + half_dims]] : query[retained_g[i - half_dims]];
    value = rotated(query[retained_g[i]], other, retained_g[i], inv_freq, float(positions[token]), p);
  } else {
    for (uint r = 0; r < rest_dim; r++)
      value += query[rest[g * rest_dim + r]] * element(up_k, (g * rest_dim + r) * p.latent_k + i - p.rope_dim);
  }
  absorbed[(ulong(token) * p.query + h) * width + i] = value;
}

// The weighted sum of latents of a query head of a token: a threadgroup a slice of the latent. Scores are found anew by
// every slice: one of them up to 512 values, sixteen for the widest published latent.
template <class L>
[[kernel]] void mla_attention(
    device const float* absorbed [[buffer(0)]],
    device const uchar* rope_keys [[buffer(1)]],
    device const uchar* latents [[buffer(2)]],
    device float* sums_out [[buffer(3)]],  // [tokens, query, latent_v]
    constant MlaParams& p [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[SIMDGROUPS * (kLatentSlice + 2)];
  const uint token = group.y, h = group.x, g = h / (p.query / p.kv), visible = p.past + token + 1;
  const uint start = group.z * kLatentSlice, width = min(uint(kLatentSlice), p.latent_v - start), part_size = width + 2;
  device const float* query = absorbed + (ulong(token) * p.query + h) * (p.rope_dim + p.latent_k);

  float sums[PER_LANE];
  const uint per_lane = (width + 31) / 32;
  for (uint i = 0; i < per_lane; i++) sums[i] = 0;
  float largest = -INFINITY, total = 0;
  for (uint j = simdgroup; j < visible; j += SIMDGROUPS) {
    device const uchar* rope_row = rope_keys + ulong(j) * p.rope_row_bytes;
    device const uchar* latent_row = latents + ulong(j) * p.latent_row_bytes;
    float score = 0;
    for (uint i = lane; i < p.rope_dim; i += 32) score += query[i] * L::load(rope_row, g * p.rope_dim + i);
    for (uint i = lane; i < p.latent_k; i += 32) score += query[p.rope_dim + i] * L::load(latent_row, i);
    score = p.scale * simd_sum(score);
    const float peak = max(largest, score), rescale = exp(largest - peak), weight = exp(score - peak);
    largest = peak;
    total = total * rescale + weight;
    for (uint i = 0; i < per_lane; i++)
      if (i * 32 + lane < width)
        sums[i] = sums[i] * rescale + weight * L::load(latent_row, p.latent_v_first + start + i * 32 + lane);
  }
  threadgroup float* mine = parts + simdgroup * part_size;
  for (uint i = 0; i < per_lane; i++)
    if (i * 32 + lane < width) mine[i * 32 + lane] = sums[i];
  if (lane == 0) {
    mine[width] = largest;
    mine[width + 1] = total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float peak = -INFINITY, all = 0;
  for (uint s = 0; s < SIMDGROUPS; s++) peak = max(peak, parts[s * part_size + width]);
  for (uint s = 0; s < SIMDGROUPS; s++) {
    const float part = parts[s * part_size + width];
    all += part == -INFINITY ? 0.0f : parts[s * part_size + width + 1] * exp(part - peak);
  }
  for (uint c = thread_index; c < width; c += SIMDGROUPS * 32) {
    float value = 0;
    for (uint s = 0; s < SIMDGROUPS; s++) {
      const float part = parts[s * part_size + width];
      if (part != -INFINITY) value += parts[s * part_size + c] * exp(part - peak);
    }
    sums_out[(ulong(token) * p.query + h) * p.latent_v + start + c] = value / all;
  }
}
INSTANTIATE(mla_attention)

// W_up_v of the weighted latents. A simdgroup an element of a head.
kernel void mla_expand(
    device const float* sums [[buffer(0)]],  // [tokens, query, latent_v]
    device const uchar* up_v [[buffer(1)]],  // [kv * dim, latent_v]
    device float* o [[buffer(2)]],           // [tokens, query * dim]
    constant MlaParams& p [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint i = group.x * SIMDGROUPS + simdgroup, h = group.y, token = group.z, g = h / (p.query / p.kv);
  if (i >= p.dim) return;
  device const float* latent = sums + (ulong(token) * p.query + h) * p.latent_v;
  float sum = 0;
  for (uint c = lane; c < p.latent_v; c += 32) sum += element(up_v, (g * p.dim + i) * p.latent_v + c) * latent[c];
  sum = simd_sum(sum);
  if (lane == 0) o[ulong(token) * p.o_stride + h * p.dim + i] = sum;
}
