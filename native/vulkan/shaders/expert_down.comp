#version 450
// add_to[t] += sum_i weight_i W[expert_i] h_i: the experts of a token summed in one place, in order, so that no two
// subgroups add to the same element. A subgroup owns an output.
#extension GL_GOOGLE_include_directive : require
#include "weights.glsl"

layout(binding = 2) readonly buffer H { float h[]; };                       // [tokens * topk, in]
layout(binding = 3) readonly buffer Experts { int experts[]; };             // [tokens * topk]
layout(binding = 4) readonly buffer Probability { float probability[]; };   // [tokens, topk]
layout(binding = 5) buffer Y { float y[]; };                                // [tokens, out]
ARGUMENTS(6, ExpertDownParams);

void main() {
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint token = gl_WorkGroupID.y, r = gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID;
  if (r >= p.rows) return;
  const uint whole = p.columns / 8 * 8;
  float total = 0.0;
  for (uint i = 0; i < p.topk; i++) {
    const uint slot = token * p.topk + i, x = base[2] + slot * p.h_stride;
    const Row row = find_row(p.segments, p.expert_tables, uint(experts[base[3] + slot]), r);
    float sum = 0.0;
    for (uint k = lane * 8; k < whole; k += lanes * 8) {
      float w[8];
      decode8(row, k, w);
      for (uint j = 0; j < 8; j++) sum += w[j] * h[x + k + j];
    }
    for (uint k = whole + lane; k < p.columns; k += lanes) sum += decode1(row, k) * h[x + k];
    total += probability[base[4] + token * p.weight_stride + i] * subgroupAdd(sum);
  }
  if (lane == 0) y[base[5] + token * p.y_stride + r] += total;
}
