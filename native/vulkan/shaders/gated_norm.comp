#version 450
// Prefill's last step, in place on o. One workgroup a head of a token.
#extension GL_GOOGLE_include_directive : require
#include "gated_delta.glsl"

layout(binding = 0) readonly buffer Projected { float projected[]; };  // z at [channels, channels + values)
layout(binding = 1) readonly buffer Weight { float weight[]; };        // [value_dim]
layout(binding = 2) buffer O { float o[]; };
ARGUMENTS(3, GatedDeltaParams);

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint head = gl_WorkGroupID.x, token = gl_WorkGroupID.y;
  const uint first_z = 2 * p.key_heads * p.key_dim + p.value_heads * p.value_dim;
  const uint z = base[0] + token * p.p_stride + first_z + head * p.value_dim;
  const uint at = base[2] + token * p.o_stride + head * p.value_dim;
  float squares = 0.0;
  for (uint i = thread; i < p.value_dim; i += threads) squares += o[at + i] * o[at + i];
  const float scale = inverse_rms(group_sum(squares), p.value_dim, p.norm_eps);
  for (uint i = thread; i < p.value_dim; i += threads) o[at + i] = gated(o[at + i], scale, weight[base[1] + i], projected[z + i]);
}
