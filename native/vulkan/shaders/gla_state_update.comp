#version 450
// The state after a chunk (gla_intra_chunk.comp). An element of S needs one element of each k and v: a recurrence in a
// register.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(binding = 0) readonly buffer K { float k[]; };
layout(binding = 1) readonly buffer V { float v[]; };
layout(binding = 2) readonly buffer Slopes { float slopes[]; };
layout(binding = 3) buffer State { float state[]; };
ARGUMENTS(4, GlaParams);

void main() {
  const uint at = gl_GlobalInvocationID.x, head = gl_WorkGroupID.y;
  if (at >= p.key_dim * p.value_dim) return;
  const uint d = at / p.value_dim, c = at % p.value_dim;
  const float decay = exponential(-slopes[base[2] + head]);
  const uint mine = base[3] + head * p.key_dim * p.value_dim + at;
  float s = state[mine];
  for (uint j = 0; j < p.tokens; j++)
    s = decay * s + k[base[0] + j * p.k_stride + head * p.key_dim + d] * v[base[1] + j * p.v_stride + head * p.value_dim + c];
  state[mine] = s;
}
