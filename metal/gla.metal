// Simple gated linear attention with a constant decay a head (lightning attention; arXiv 2401.04658):
//   S <- exp(-s) S + k v^T;  o = scale * S^T q          per head, S [key_dim, value_dim]
// A chunk of n tokens:
//   O = scale * (exp(-s (i + 1)) Q S_0 + ((Q K^T) * Gamma) V),  Gamma_ij = exp(-s (i - j)) for j <= i, else 0
#include "params.h"
#include "shared/reduce.h"

constant uint KEY_DIM [[function_constant(10)]];

constant constexpr uint COLUMNS = 8;
constant constexpr uint ROWS = 8;   // query rows a threadgroup of the intra-chunk kernel
constant constexpr uint KEYS = 64;  // key rows at a time

// Scores, decay mask, values and the state's part in one kernel: the 64 x 64 score matrix stays in threadgroup memory.
kernel void gla_intra_chunk(
    device const float* q [[buffer(0)]],  // [tokens, heads * key_dim]
    device const float* k [[buffer(1)]],
    device const float* v [[buffer(2)]],       // [tokens, heads * value_dim]
    device const float* slopes [[buffer(3)]],  // [heads]
    device const float* state [[buffer(4)]],   // [heads, key_dim, value_dim]: before the chunk
    device float* o [[buffer(5)]],
    constant GlaParams& p [[buffer(6)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint2 threadgroup_size [[threads_per_threadgroup]]) {
  threadgroup float scores[ROWS * KEYS];
  threadgroup float sums[ROWS * MAX_STATE_DIM];
  const uint head = group.y, first = group.x * ROWS, rows = min(ROWS, p.tokens - first);
  const uint threads = threadgroup_size.x;
  const float slope = slopes[head];
  device const float* S = state + ulong(head) * p.key_dim * p.value_dim;
  for (uint e = thread_index; e < rows * p.value_dim; e += threads) {
    const uint i = first + e / p.value_dim, c = e % p.value_dim;
    device const float* query = q + ulong(i) * p.q_stride + head * p.key_dim;
    float sum = 0;
    for (uint d = 0; d < p.key_dim; d++) sum += query[d] * S[ulong(d) * p.value_dim + c];
    sums[e] = exp(-slope * float(i + 1)) * sum;
  }
  for (uint start = 0; start < first + rows; start += KEYS) {
    const uint count = min(KEYS, first + rows - start);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = thread_index; e < rows * count; e += threads) {
      const uint i = first + e / count, j = start + e % count;
      float score = 0;
      if (j <= i) {
        device const float* query = q + ulong(i) * p.q_stride + head * p.key_dim;
        device const float* key = k + ulong(j) * p.k_stride + head * p.key_dim;
        for (uint d = 0; d < p.key_dim; d++) score += query[d] * key[d];
        score *= exp(-slope * float(i - j));
      }
      scores[e / count * KEYS + e % count] = score;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = thread_index; e < rows * p.value_dim; e += threads) {
      const uint row = e / p.value_dim, c = e % p.value_dim;
      float sum = sums[e];
      for (uint j = 0; j < count && start + j <= first + row; j++)
        sum += scores[row * KEYS + j] * v[ulong(start + j) * p.v_stride + head * p.value_dim + c];
      sums[e] = sum;
    }
  }
  for (uint e = thread_index; e < rows * p.value_dim; e += threads)
    o[ulong(first + e / p.value_dim) * p.o_stride + head * p.value_dim + e % p.value_dim] = p.scale * sums[e];
}

// The state after the chunk. An element of S needs one element of each k and v: a recurrence in a register.
kernel void gla_state_update(
    device const float* k [[buffer(0)]],
    device const float* v [[buffer(1)]],
    device const float* slopes [[buffer(2)]],
    device const float* before [[buffer(3)]],  // may be the memory of `after`
    device float* after [[buffer(4)]],
    constant GlaParams& p [[buffer(5)]],
    uint2 at [[thread_position_in_grid]]) {
  const uint head = at.y;
  if (at.x >= p.key_dim * p.value_dim) return;
  const uint d = at.x / p.value_dim, c = at.x % p.value_dim;
  const float decay = exp(-slopes[head]);
  const ulong mine = ulong(head) * p.key_dim * p.value_dim + at.x;
  float s = before[mine];
  for (uint j = 0; j < p.tokens; j++)
    s = decay * s + k[ulong(j) * p.k_stride + head * p.key_dim + d] * v[ulong(j) * p.v_stride + head * p.value_dim + c];
  after[mine] = s;
}

// Decode: read and write the state once for all tokens of the pass, columns as in gated_delta.metal.
template <int KPL>
[[kernel]] void gla_decode(
    device const float* q [[buffer(0)]],
    device const float* k [[buffer(1)]],
    device const float* v [[buffer(2)]],
    device const float* slopes [[buffer(3)]],
    device const float* before [[buffer(4)]],  // may be the memory of `after`
    device float* after [[buffer(5)]],
    device float* o [[buffer(6)]],
    constant GlaParams& p [[buffer(7)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint first = (group.x * simdgroups + simdgroup) * COLUMNS;
  if (first >= p.value_dim) return;
  const uint part = lane / COLUMNS, column = first + lane % COLUMNS, head = group.y;
  const bool active = column < p.value_dim;
  const uint c = active ? column : p.value_dim - 1, at = head * p.key_dim + part * KPL;
  const ulong mine = ulong(head) * p.key_dim * p.value_dim + c;
  const float decay = exp(-slopes[head]);
  float s[KPL];
  for (int j = 0; j < KPL; j++)  // lanes past the last column load nothing: another lane may be storing it
    s[j] = active && part * KPL + j < KEY_DIM ? before[mine + ulong(part * KPL + j) * p.value_dim] : 0.0f;
  for (uint t = 0; t < p.tokens; t++) {
    device const float* query = q + ulong(t) * p.q_stride + at;
    device const float* key = k + ulong(t) * p.k_stride + at;
    const float value = v[ulong(t) * p.v_stride + head * p.value_dim + c];
    float sum = 0;
    for (int j = 0; j < KPL; j++) {
      if (part * KPL + j >= KEY_DIM) continue;
      s[j] = decay * s[j] + key[j] * value;
      sum += p.scale * query[j] * s[j];
    }
    sum += simd_shuffle_xor(sum, 8);
    sum += simd_shuffle_xor(sum, 16);
    if (active && part == 0) o[ulong(t) * p.o_stride + head * p.value_dim + column] = sum;
  }
  if (!active) return;
  for (int j = 0; j < KPL; j++)
    if (part * KPL + j < KEY_DIM) after[mine + ulong(part * KPL + j) * p.value_dim] = s[j];
}
#define DECODE(kpl) template [[host_name("gla_decode_" #kpl)]] [[kernel]] decltype(gla_decode<kpl>) gla_decode<kpl>;
DECODE(4)
DECODE(8)
DECODE(16)
DECODE(32)
DECODE(64)
