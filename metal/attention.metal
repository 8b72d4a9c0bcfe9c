// Softmax attention over the rows of a cache (decode, prefill, the encoder, and the chosen blocks of sparse attention).
// Simdgroups stride over the keys, lanes over the head's dimensions; every simdgroup keeps a running maximum, sum and
// weighted value (online softmax), merged in threadgroup memory at the end. Up to four query rows share what is read of
// a key and a value: heads of one group first, then neighbouring tokens; a row's own arithmetic does not depend on who
// shares. A causal row stops at its own key: nothing above the diagonal counts. Long contexts are split over
// threadgroups, and attention_combine merges their parts.
#include "params.h"
#include "shared/cache.h"
#include "shared/instantiate.h"

constant uint DIM [[function_constant(10)]];
constant bool CAUSAL [[function_constant(11)]];
constant bool SPARSE [[function_constant(12)]];
constant uint TOKENS [[function_constant(0)]];  // neighbouring tokens a threadgroup
constant uint HEADS [[function_constant(21)]];  // query heads of one group a threadgroup

constant constexpr uint SIMDGROUPS = 8;

// Neighbouring elements that a lane loads at once: element i of a lane is `dimension(i, lane)` of the head.
static inline uint wide() { return DIM > 64 && DIM % 4 == 0 ? 4 : DIM > 32 && DIM % 2 == 0 ? 2 : 1; }
static inline uint dimension(uint i, uint lane) { return (i / wide() * 32 + lane) * wide() + i % wide(); }
template <class L>
static inline void load_wide(device const uchar* head, uint d, thread float* to) {
  if (wide() == 4) {
    const float4 four = L::load4(head, d);
    for (uint e = 0; e < 4; e++) to[e] = four[e];
  } else if (wide() == 2) {
    const float2 two = L::load2(head, d);
    for (uint e = 0; e < 2; e++) to[e] = two[e];
  } else {
    to[0] = L::load(head, d);
  }
}

// A simdgroup's part in threadgroup memory, [dim | peak | sum]: of whole 16 bytes where lanes write as many at once,
// since four writes of one float each would go to every fourth bank.
static inline uint part_floats() { return DIM + 4; }
static inline void store_wide(threadgroup float* to, thread const float* from) {
  if (wide() == 4) *reinterpret_cast<threadgroup float4*>(to) = float4(from[0], from[1], from[2], from[3]);
  else if (wide() == 2) *reinterpret_cast<threadgroup float2*>(to) = float2(from[0], from[1]);
  else to[0] = from[0];
}

// Weighted values of the simdgroups' parts, and their common peak and sum.
static inline float2 merged(threadgroup const float* parts) {
  float peak = -INFINITY, all = 0;
  for (uint s = 0; s < SIMDGROUPS; s++) peak = max(peak, parts[s * part_floats() + DIM]);
  for (uint s = 0; s < SIMDGROUPS; s++) {
    const float part = parts[s * part_floats() + DIM];
    all += part == -INFINITY ? 0.0f : parts[s * part_floats() + DIM + 1] * exp(part - peak);
  }
  return float2(peak, all);
}

// The work of one threadgroup. R: maximum query rows, N: dimensions a lane. Arrays indexed by a row or a dimension are
// exactly as long as this head needs, so that they stay in registers.
template <class L, uint R, uint N>
static inline void attend(
    device const float* q,
    device const uchar* keys,
    device const uchar* values,
    device const int* blocks,
    device float* o,
    constant AttentionParams& p,
    threadgroup float* parts,
    uint3 group,
    uint lane,
    uint simdgroup,
    uint thread_index) {
  const uint first_token = group.y * TOKENS, first_head = group.x * HEADS, kv = first_head / p.group;
  const uint per_lane = (DIM + 32 * wide() - 1) / (32 * wide()) * wide();
  float query[R][N], sum[R][N];
  float largest[R], total[R];
  uint visible[R];
  uint last = 0;
  for (uint r = 0; r < HEADS * TOKENS; r++) {
    const uint token = first_token + r / HEADS, h = first_head + r % HEADS;
    visible[r] = token < p.tokens ? p.first_visible + (CAUSAL ? token : 0) : 0;
    last = max(last, visible[r]);
    largest[r] = -INFINITY;
    total[r] = 0;
    for (uint i = 0; i < per_lane; i++) {
      const uint d = dimension(i, lane);
      query[r][i] = d < DIM && token < p.tokens ? q[ulong(token) * p.q_stride + h * DIM + d] * p.scale : 0.0f;
      sum[r][i] = 0;
    }
  }

  device const int* list = blocks + ulong(first_token * (p.query / p.group) + kv) * p.topk;
  const uint first = SPARSE ? 0 : group.z * p.split_keys;
  const uint end = SPARSE ? p.topk * p.block : min(last, first + p.split_keys);
  for (uint at = first + simdgroup; at < end; at += SIMDGROUPS) {
    uint j = at;
    if (SPARSE) {
      const int block = list[at / p.block];
      if (block < 0) break;
      j = uint(block) * p.block + at % p.block;
      if (j >= last) continue;
    }
    const ulong offset = ulong(j) * p.key_row_bytes + ulong(kv) * p.head_bytes;
    float score[R];
    for (uint r = 0; r < HEADS * TOKENS; r++) score[r] = 0;
    for (uint i = 0; i < per_lane; i += wide()) {
      if (dimension(i, lane) >= DIM) continue;
      float key[4];
      load_wide<L>(keys + offset, dimension(i, lane), key);
      for (uint e = 0; e < wide(); e++)
        for (uint r = 0; r < HEADS * TOKENS; r++) score[r] += query[r][i + e] * key[e];
    }
    float rescale[R], weight[R];
    for (uint r = 0; r < HEADS * TOKENS; r++) {
      const float here = simd_sum(score[r]);
      const bool seen = j < visible[r];
      const float peak = seen ? max(largest[r], here) : largest[r];
      rescale[r] = seen ? exp(largest[r] - peak) : 1.0f;
      weight[r] = seen ? exp(here - peak) : 0.0f;
      largest[r] = peak;
      total[r] = total[r] * rescale[r] + weight[r];
    }
    for (uint i = 0; i < per_lane; i += wide()) {
      if (dimension(i, lane) >= DIM) continue;
      float value[4];
      load_wide<L>(values + offset, dimension(i, lane), value);
      for (uint e = 0; e < wide(); e++)
        for (uint r = 0; r < HEADS * TOKENS; r++) sum[r][i + e] = sum[r][i + e] * rescale[r] + weight[r] * value[e];
    }
  }

  const bool split = p.splits > 1;
  threadgroup float* mine = parts + simdgroup * part_floats();
  for (uint r = 0; r < HEADS * TOKENS; r++) {
    for (uint i = 0; i < per_lane; i += wide())
      if (dimension(i, lane) < DIM) store_wide(mine + dimension(i, lane), sum[r] + i);
    if (lane == 0) {
      mine[DIM] = largest[r];
      mine[DIM + 1] = total[r];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint token = first_token + r / HEADS, h = first_head + r % HEADS;
    const float2 common = merged(parts);
    device float* to = split ? o + ((ulong(group.z) * p.tokens + token) * p.query + h) * (DIM + 2)
                             : o + ulong(token) * p.o_stride + h * DIM;
    for (uint d = thread_index; d < DIM && token < p.tokens; d += SIMDGROUPS * 32) {
      float value = 0;
      for (uint s = 0; s < SIMDGROUPS; s++) {
        const float part = parts[s * part_floats() + DIM];
        if (part != -INFINITY) value += parts[s * part_floats() + d] * exp(part - common.x);
      }
      to[d] = split ? value : value / common.y;
    }
    if (split && thread_index == 0 && token < p.tokens) {
      to[DIM] = common.x;
      to[DIM + 1] = common.y;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template <class L>
[[kernel]] void attention(
    device const float* q [[buffer(0)]],  // [tokens, query * dim]
    device const uchar* keys [[buffer(1)]],
    device const uchar* values [[buffer(2)]],
    device const int* blocks [[buffer(3)]],  // [tokens * kv, topk], ascending, -1 where fewer
    device float* o [[buffer(4)]],           // [tokens, query * dim]; parts when split: [split, tokens, query, dim + 2]
    constant AttentionParams& p [[buffer(5)]],
    threadgroup float* parts [[threadgroup(0)]],  // [simdgroups, dim + 4]
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint thread_index [[thread_index_in_threadgroup]]) {
#define ATTEND(rows, dims) \
  attend<L, rows, dims>(q, keys, values, blocks, o, p, parts, group, lane, simdgroup, thread_index)
  if (HEADS * TOKENS == 1) {
    if (DIM <= 64) ATTEND(1, 2);
    else if (DIM <= 128) ATTEND(1, 4);
    else if (DIM <= 256) ATTEND(1, 8);
    else ATTEND(1, 16);
  } else {
    if (DIM <= 64) ATTEND(4, 2);
    else if (DIM <= 128) ATTEND(4, 4);
    else if (DIM <= 256) ATTEND(4, 8);
    else ATTEND(4, 16);
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
