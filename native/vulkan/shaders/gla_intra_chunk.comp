#version 450
// Simple gated linear attention with a constant decay a head (lightning attention; arXiv 2401.04658):
//   S <- exp(-s) S + k v^T;  o = scale * S^T q          per head, S [key_dim, value_dim]
// A chunk of n tokens:
//   O = scale * (exp(-s (i + 1)) Q S_0 + ((Q K^T) * Gamma) V),  Gamma_ij = exp(-s (i - j)) for j <= i, else 0
// Scores, decay mask, values and the state's part in one kernel: the scores stay in shared memory.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(binding = 0) readonly buffer Q { float q[]; };            // [tokens, heads * key_dim]
layout(binding = 1) readonly buffer K { float k[]; };
layout(binding = 2) readonly buffer V { float v[]; };            // [tokens, heads * value_dim]
layout(binding = 3) readonly buffer Slopes { float slopes[]; };  // [heads]
layout(binding = 4) readonly buffer State { float state[]; };    // [heads, key_dim, value_dim]: before the chunk
layout(binding = 5) writeonly buffer O { float o[]; };
ARGUMENTS(6, GlaParams);

const uint ROWS = 8;   // query rows a workgroup
const uint KEYS = 64;  // key rows at a time

shared float scores[ROWS * KEYS];
shared float sums[ROWS * MAX_STATE_DIM];

float score_of(uint i, uint j, uint head, float slope) {
  if (j > i) return 0.0;
  const uint query = base[0] + i * p.q_stride + head * p.key_dim, key = base[1] + j * p.k_stride + head * p.key_dim;
  float score = 0.0;
  for (uint d = 0; d < p.key_dim; d++) score += q[query + d] * k[key + d];
  return score * exponential(-slope * float(i - j));
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint head = gl_WorkGroupID.y, first = gl_WorkGroupID.x * ROWS, rows = min(ROWS, p.tokens - first);
  const float slope = slopes[base[3] + head];
  const uint S = base[4] + head * p.key_dim * p.value_dim;
  for (uint e = thread; e < rows * p.value_dim; e += threads) {
    const uint i = first + e / p.value_dim, c = e % p.value_dim, query = base[0] + i * p.q_stride + head * p.key_dim;
    float sum = 0.0;
    for (uint d = 0; d < p.key_dim; d++) sum += q[query + d] * state[S + d * p.value_dim + c];
    sums[e] = exponential(-slope * float(i + 1)) * sum;
  }
  for (uint start = 0; start < first + rows; start += KEYS) {
    const uint count = min(KEYS, first + rows - start);
    barrier();
    for (uint e = thread; e < rows * count; e += threads)
      scores[e / count * KEYS + e % count] = score_of(first + e / count, start + e % count, head, slope);
    barrier();
    for (uint e = thread; e < rows * p.value_dim; e += threads) {
      const uint row = e / p.value_dim, c = e % p.value_dim;
      float sum = sums[e];
      for (uint j = 0; j < count && start + j <= first + row; j++)
        sum += scores[row * KEYS + j] * v[base[2] + (start + j) * p.v_stride + head * p.value_dim + c];
      sums[e] = sum;
    }
  }
  for (uint e = thread; e < rows * p.value_dim; e += threads)
    o[base[5] + (first + e / p.value_dim) * p.o_stride + head * p.value_dim + e % p.value_dim] = p.scale * sums[e];
}
