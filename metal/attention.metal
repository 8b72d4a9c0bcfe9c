// Softmax attention of one query head of one token over the rows of a cache (decode, prefill, the encoder, and the
// chosen blocks of sparse attention). Simdgroups stride over the keys, lanes over the head's dimensions; every
// simdgroup keeps a running maximum, sum and weighted value (online softmax), merged in threadgroup memory at the end.
// A causal row stops at its own key: nothing above the diagonal is read. Long contexts are split over threadgroups, and
// attention_combine merges their parts.
#include "params.h"
#include "cache.h"
#include "instantiate.h"

constant uint DIM [[function_constant(10)]];
constant bool CAUSAL [[function_constant(11)]];
constant bool SPARSE [[function_constant(12)]];

constant constexpr uint MAX_PER_LANE = 16;  // dims a lane: heads up to 512
constant constexpr uint SIMDGROUPS = 8;
constant constexpr uint PART = MAX_PER_LANE * 32 + 2;

template <class L>
[[kernel]] void attention(
    device const float* q [[buffer(0)]],        // [tokens, query * dim]
    device const uchar* keys [[buffer(1)]],
    device const uchar* values [[buffer(2)]],
    device const int* blocks [[buffer(3)]],     // [tokens * kv, topk], ascending, -1 where fewer
    device float* o [[buffer(4)]],              // [tokens, query * dim]; parts when split: [split, tokens, query, dim + 2]
    constant AttentionParams& p [[buffer(5)]],
    threadgroup float* parts [[threadgroup(0)]],  // [simdgroups, dim + 2]
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  const uint token = group.y, h = group.x, kv = h / p.group;
  const uint visible = p.first_visible + (CAUSAL ? token : 0);
  const uint per_lane = (DIM + 31) / 32;
  float query[MAX_PER_LANE], sum[MAX_PER_LANE];
  for (uint i = 0; i < per_lane; i++) {
    const uint d = i * 32 + lane;
    query[i] = d < DIM ? q[ulong(token) * p.q_stride + h * DIM + d] * p.scale : 0.0f;
    sum[i] = 0;
  }
  float largest = -INFINITY, total = 0;

  device const int* list = blocks + ulong(token * (p.query / p.group) + kv) * p.topk;
  const uint first = SPARSE ? 0 : group.z * p.split_keys;
  const uint end = SPARSE ? p.topk * p.block : min(visible, first + p.split_keys);
  for (uint at = first + simdgroup; at < end; at += SIMDGROUPS) {
    uint j = at;
    if (SPARSE) {
      const int block = list[at / p.block];
      if (block < 0) break;
      j = uint(block) * p.block + at % p.block;
      if (j >= visible) continue;
    }
    const ulong offset = ulong(j) * p.key_row_bytes + ulong(kv) * p.head_bytes;
    float score = 0;
    for (uint i = 0; i < per_lane; i++)
      if (i * 32 + lane < DIM) score += query[i] * L::load(keys + offset, i * 32 + lane);
    score = simd_sum(score);
    const float peak = max(largest, score);
    const float keep = exp(largest - peak), weight = exp(score - peak);
    largest = peak;
    total = total * keep + weight;
    for (uint i = 0; i < per_lane; i++)
      if (i * 32 + lane < DIM) sum[i] = sum[i] * keep + weight * L::load(values + offset, i * 32 + lane);
  }

  threadgroup float* mine = parts + simdgroup * (DIM + 2);
  for (uint i = 0; i < per_lane; i++)
    if (i * 32 + lane < DIM) mine[i * 32 + lane] = sum[i];
  if (lane == 0) {
    mine[DIM] = largest;
    mine[DIM + 1] = total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float peak = -INFINITY, all = 0;
  for (uint s = 0; s < SIMDGROUPS; s++) peak = max(peak, parts[s * (DIM + 2) + DIM]);
  for (uint s = 0; s < SIMDGROUPS; s++) {
    const float part = parts[s * (DIM + 2) + DIM];
    all += part == -INFINITY ? 0.0f : parts[s * (DIM + 2) + DIM + 1] * exp(part - peak);
  }
  const bool split = p.splits > 1;
  device float* to = split ? o + ((ulong(group.z) * p.tokens + token) * p.query + h) * (DIM + 2)
                           : o + ulong(token) * p.o_stride + h * DIM;
  for (uint d = thread_index; d < DIM; d += SIMDGROUPS * 32) {
    float value = 0;
    for (uint s = 0; s < SIMDGROUPS; s++) {
      const float part = parts[s * (DIM + 2) + DIM];
      if (part != -INFINITY) value += parts[s * (DIM + 2) + d] * exp(part - peak);
    }
    to[d] = split ? value : value / all;
  }
  if (split && thread_index == 0) {
    to[DIM] = peak;
    to[DIM + 1] = all;
  }
}
INSTANTIATE(attention)

// Merges the parts of a long context. One simdgroup a query head of a token.
kernel void attention_combine(
    device const float* parts [[buffer(0)]],  // [split, tokens, query, dim + 2]
    device float* o [[buffer(1)]],
    constant AttentionParams& p [[buffer(2)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const ulong step = ulong(p.tokens) * p.query * (DIM + 2);
  device const float* first = parts + (ulong(group.y) * p.query + group.x) * (DIM + 2);
  float peak = -INFINITY, all = 0;
  for (uint s = 0; s < p.splits; s++) peak = max(peak, first[s * step + DIM]);
  for (uint s = 0; s < p.splits; s++) {
    const float part = first[s * step + DIM];
    all += part == -INFINITY ? 0.0f : first[s * step + DIM + 1] * exp(part - peak);
  }
  for (uint d = lane; d < DIM; d += 32) {
    float value = 0;
    for (uint s = 0; s < p.splits; s++) {
      const float part = first[s * step + DIM];
      if (part != -INFINITY) value += first[s * step + d] * exp(part - peak);
    }
    o[ulong(group.y) * p.o_stride + group.x * DIM + d] = value / all;
  }
}
