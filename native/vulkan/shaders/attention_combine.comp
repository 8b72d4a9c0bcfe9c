#version 450
// Merges the parts of a long context (attention.comp). One workgroup a query head of a token.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(constant_id = 10) const uint DIM = 64;

layout(binding = 0) readonly buffer Parts { float parts[]; };  // [split, tokens, query, dim + 2]
layout(binding = 1) writeonly buffer O { float o[]; };
ARGUMENTS(2, AttentionParams);

void main() {
  const uint head = gl_WorkGroupID.x, token = gl_WorkGroupID.y;
  const uint step_words = p.tokens * p.query * (DIM + 2), first = base[0] + (token * p.query + head) * (DIM + 2);
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  float peak = LOWEST, all = 0.0;
  for (uint s = thread; s < p.splits; s += threads) peak = max(peak, parts[first + s * step_words + DIM]);
  peak = group_max(peak);
  for (uint s = thread; s < p.splits; s += threads)
    all += parts[first + s * step_words + DIM + 1] * exponential(parts[first + s * step_words + DIM] - peak);
  all = group_sum(all);
  for (uint d = thread; d < DIM; d += threads) {
    float value = 0.0;
    for (uint s = 0; s < p.splits; s++)
      value += parts[first + s * step_words + d] * exponential(parts[first + s * step_words + DIM] - peak);
    o[base[1] + token * p.o_stride + head * DIM + d] = value / all;
  }
}
