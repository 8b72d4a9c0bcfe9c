// Linear attention in chunks of 64 tokens (gated delta rule: arXiv 2412.06464; GLA): what a chunk
// does to the state becomes a few products, which 8 x 8 matrices compute. With G the decays (logarithms) summed from
// the chunk's first token on, S_0 the state before it and (q, k) normalised:
//   A_ij = beta_i exp(G_i - G_j) k_i . k_j  (j < i)       T = (I + A)^-1 diag(beta)
//   U = T V - (T diag(exp G) K) S_0                        what the rule writes (GLA: U = V)
//   O = diag(exp G) Q S_0 + P U,  P_ij = exp(G_i - G_j) q_i . k_j  (j <= i)
//   S = exp(G_n) S_0 + (diag(exp(G_n - G)) K)^T U
// chunk_prepare computes everything that does not need S_0, for all chunks at once; chunk_scan walks over the chunks
// with S in registers and needs no threadgroup memory and no barrier. T comes from forward substitution, row by row:
// product forms of the inverse lose digits where keys are nearly constant and beta is near 1.
//
// Chunks pay on GPUs with matrix units (M5); gated_delta_scan is faster on earlier ones. The tuning table decides which
// one runs.
#include "params.h"
#include "shared/reduce.h"

#include <metal_simdgroup_matrix>

constant bool TILED [[function_constant(19)]];
constant bool DELTA [[function_constant(23)]];

constant constexpr uint C = 64;  // tokens a chunk
// Row stride of T in threadgroup memory: with 64 floats, all rows of an 8 x 8 matrix would begin in the same bank.
constant constexpr uint ROW = C + 4;
constant constexpr uint SIMDGROUPS = 4;

// Offsets of the parts of a chunk, in floats. Rows beyond the last token are zero.
struct Places {
  uint keys, write, values, scores, decay;
};
static inline Places places_of(constant ChunkParams& p) {
  Places at;
  at.keys = C * p.key_dim;
  at.write = 2 * at.keys;
  at.values = DELTA ? 3 * at.keys : at.write;
  at.scores = at.values + C * p.value_dim;
  at.decay = at.scores + C * C;
  return at;
}

// rows [64, dim] = t [64, 64] rows, t lower triangular, in place: a simdgroup owns columns and goes up from the last
// row.
static inline void multiply_in_place(threadgroup const float* t, device float* rows, uint dim, uint simdgroup) {
  for (uint column = simdgroup * 8; column < dim; column += SIMDGROUPS * 8) {
    for (uint below = C / 8; below > 0; below--) {
      const uint i = below - 1;
      simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      for (uint j = 0; j <= i; j++) {
        simdgroup_float8x8 a, b;
        simdgroup_load(a, t + i * 8 * ROW + j * 8, ROW);
        simdgroup_load(b, rows + j * 8 * dim + column, dim);
        simdgroup_multiply_accumulate(sum, a, b, sum);
      }
      simdgroup_barrier(mem_flags::mem_device);
      simdgroup_store(sum, rows + i * 8 * dim + column, dim);
    }
  }
}

[[max_total_threads_per_threadgroup(128)]] kernel void chunk_prepare(
    device const float* q [[buffer(0)]],  // [tokens, key_heads * key_dim]
    device const float* k [[buffer(1)]],
    device const float* v [[buffer(2)]],      // [tokens, heads * value_dim]
    device const float* gates [[buffer(3)]],  // [tokens, b | a], delta rule
    device const float* decay [[buffer(4)]],  // [heads]: -exp(A_log), or the slope of GLA
    device const float* dt_bias [[buffer(5)]],
    device float* parts [[buffer(6)]],
    constant ChunkParams& p [[buffer(7)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint2 groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float t[C * ROW];  // A, then T
  threadgroup float logs[C];     // of the decay of each token
  threadgroup float totals[C];   // G
  threadgroup float betas[C];
  const uint head = group.y, first = group.x * C, rows = min(C, p.tokens - first);
  const uint key_head = TILED ? head % p.key_heads : head / (p.heads / p.key_heads);
  const Places at = places_of(p);
  device float* part = parts + ulong(head * groups.x + group.x) * p.part_floats;

  if (thread_index < C) {
    const uint i = thread_index;
    float log_decay = 0, beta = 0;
    if (i < rows) {
      device const float* row = gates + ulong(first + i) * p.gates_stride;
      log_decay = DELTA ? decay[head] * softplus(row[p.heads + head] + dt_bias[head]) : -decay[head];
      if (DELTA) beta = sigmoid(row[head]);
    }
    logs[i] = log_decay;
    betas[i] = beta;
  }
  for (uint i = simdgroup; i < C; i += SIMDGROUPS) {
    device const float* query = q + ulong(first + i) * p.q_stride + key_head * p.key_dim;
    device const float* key = k + ulong(first + i) * p.k_stride + key_head * p.key_dim;
    device const float* value = v + ulong(first + i) * p.v_stride + head * p.value_dim;
    float qq = 0, kk = 0;
    for (uint d = lane; DELTA && i < rows && d < p.key_dim; d += 32) {
      qq += query[d] * query[d];
      kk += key[d] * key[d];
    }
    const float q_scale = DELTA ? p.scale / precise::sqrt(simd_sum(qq) + p.l2_eps) : p.scale;
    const float k_scale = DELTA ? 1.0f / precise::sqrt(simd_sum(kk) + p.l2_eps) : 1.0f;
    for (uint d = lane; d < p.key_dim; d += 32) {
      part[i * p.key_dim + d] = i < rows ? query[d] * q_scale : 0.0f;
      part[at.keys + i * p.key_dim + d] = i < rows ? key[d] * k_scale : 0.0f;
    }
    for (uint d = lane; d < p.value_dim; d += 32) part[at.values + i * p.value_dim + d] = i < rows ? value[d] : 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (thread_index < C) {
    float total = 0;
    for (uint i = 0; i <= thread_index; i++) total += logs[i];
    totals[thread_index] = total;
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);

  // Tiles of Q K^T and K K^T on and below the diagonal.
  uint tile = 0;
  for (uint i = 0; i < C; i += 8)
    for (uint j = 0; j <= i; j += 8) {
      if (tile++ % SIMDGROUPS != simdgroup) continue;
      simdgroup_float8x8 scores = make_filled_simdgroup_matrix<float, 8, 8>(0.0f), likeness = scores;
      for (uint d = 0; d < p.key_dim; d += 8) {
        simdgroup_float8x8 a, b;
        simdgroup_load(b, part + at.keys + j * p.key_dim + d, p.key_dim, ulong2(0, 0), true);
        simdgroup_load(a, part + i * p.key_dim + d, p.key_dim);
        simdgroup_multiply_accumulate(scores, a, b, scores);
        if (!DELTA) continue;
        simdgroup_load(a, part + at.keys + i * p.key_dim + d, p.key_dim);
        simdgroup_multiply_accumulate(likeness, a, b, likeness);
      }
      simdgroup_store(scores, part + at.scores + i * C + j, C);
      if (DELTA) simdgroup_store(likeness, t + i * ROW + j, ROW);
    }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint e = thread_index; e < C * C; e += SIMDGROUPS * 32) {
    const uint i = e / C, j = e % C;
    const float since = j <= i ? exp(totals[i] - totals[j]) : 0.0f;
    part[at.scores + e] = j <= i ? part[at.scores + e] * since : 0.0f;
    threadgroup float& place = t[i * ROW + j];
    if (DELTA) place = j < i ? betas[i] * since * place : i == j ? 1.0f : 0.0f;
  }

  if (DELTA) {
    for (uint i = 1; i < C; i++) {  // row i of (I + A)^-1 from the rows above it
      threadgroup_barrier(mem_flags::mem_threadgroup);
      float sum = 0;
      if (thread_index < i) {
        sum = t[i * ROW + thread_index];
        for (uint j = thread_index + 1; j < i; j++) sum += t[i * ROW + j] * t[j * ROW + thread_index];
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (thread_index < i) t[i * ROW + thread_index] = -sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = thread_index; e < C * C; e += SIMDGROUPS * 32) t[e / C * ROW + e % C] *= betas[e % C];
    for (uint e = thread_index; e < C * p.key_dim; e += SIMDGROUPS * 32) part[at.write + e] = part[at.keys + e];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    multiply_in_place(t, part + at.values, p.value_dim, simdgroup);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = thread_index; e < C * C; e += SIMDGROUPS * 32) t[e / C * ROW + e % C] *= -exp(totals[e % C]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_in_place(t, part + at.write, p.key_dim, simdgroup);
  }
  const float end = totals[C - 1];
  for (uint e = thread_index; e < C * p.key_dim; e += SIMDGROUPS * 32) {
    part[e] *= exp(totals[e / p.key_dim]);
    part[at.keys + e] *= exp(end - totals[e / p.key_dim]);
  }
  if (thread_index == 0) part[at.decay] = exp(end);
}

// A simdgroup owns 8 columns of the state, KEYS * 8 rows of it.
template <int KEYS>
[[kernel]] void chunk_scan(
    device const float* parts [[buffer(0)]],
    device const float* before [[buffer(1)]],  // [heads, key_dim, value_dim]; may be the memory of `after`
    device float* after [[buffer(2)]],
    device float* o [[buffer(3)]],  // [tokens up to the next multiple of 8, heads * value_dim]
    constant ChunkParams& p [[buffer(4)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  constexpr int TILES = C / 8;
  const uint first = (group.x * simdgroups + simdgroup) * 8, head = group.y;
  if (first >= p.value_dim) return;
  const Places at = places_of(p);
  const uint chunks = (p.tokens + C - 1) / C;
  const ulong mine = ulong(head) * p.key_dim * p.value_dim + first;
  simdgroup_float8x8 S[KEYS];
  for (int d = 0; d < KEYS; d++) simdgroup_load(S[d], before + mine + d * 8 * p.value_dim, p.value_dim);
  for (uint chunk = 0; chunk < chunks; chunk++) {
    device const float* part = parts + ulong(head * chunks + chunk) * p.part_floats;
    simdgroup_float8x8 a, U[TILES];
    for (int i = 0; i < TILES; i++) {
      simdgroup_load(U[i], part + at.values + i * 8 * p.value_dim + first, p.value_dim);
      for (int d = 0; DELTA && d < KEYS; d++) {
        simdgroup_load(a, part + at.write + i * 8 * p.key_dim + d * 8, p.key_dim);
        simdgroup_multiply_accumulate(U[i], a, S[d], U[i]);
      }
    }
    for (int i = 0; i < TILES; i++) {
      const uint row = chunk * C + i * 8;
      if (row >= p.tokens) break;
      simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      for (int d = 0; d < KEYS; d++) {
        simdgroup_load(a, part + i * 8 * p.key_dim + d * 8, p.key_dim);
        simdgroup_multiply_accumulate(sum, a, S[d], sum);
      }
      for (int j = 0; j <= i; j++) {
        simdgroup_load(a, part + at.scores + i * 8 * C + j * 8, C);
        simdgroup_multiply_accumulate(sum, a, U[j], sum);
      }
      simdgroup_store(sum, o + ulong(row) * p.o_stride + head * p.value_dim + first, p.o_stride);
    }
    const simdgroup_float8x8 decay = simdgroup_float8x8(part[at.decay]);
    for (int d = 0; d < KEYS; d++) {
      simdgroup_float8x8 sum;
      simdgroup_multiply(sum, decay, S[d]);
      for (int i = 0; i < TILES; i++) {
        simdgroup_load(a, part + at.keys + i * 8 * p.key_dim + d * 8, p.key_dim, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(sum, a, U[i], sum);
      }
      S[d] = sum;
    }
  }
  for (int d = 0; d < KEYS; d++) simdgroup_store(S[d], after + mine + d * 8 * p.value_dim, p.value_dim);
}

#define SCAN(keys) template [[host_name("chunk_scan_" #keys)]] [[kernel]] decltype(chunk_scan<keys>) chunk_scan<keys>;
SCAN(2)
SCAN(4)
SCAN(8)
SCAN(16)
SCAN(32)
