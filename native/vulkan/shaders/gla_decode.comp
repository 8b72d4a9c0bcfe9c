#version 450
// Decode of lightning attention (gla_intra_chunk.comp): a thread owns a column of the state and reads and writes it once
// for all tokens of the pass.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(constant_id = 10) const uint KEY_DIM = 64;

layout(binding = 0) readonly buffer Q { float q[]; };
layout(binding = 1) readonly buffer K { float k[]; };
layout(binding = 2) readonly buffer V { float v[]; };
layout(binding = 3) readonly buffer Slopes { float slopes[]; };
layout(binding = 4) buffer State { float state[]; };
layout(binding = 5) writeonly buffer O { float o[]; };
ARGUMENTS(6, GlaParams);

void main() {
  const uint c = gl_GlobalInvocationID.x, head = gl_WorkGroupID.y;
  if (c >= p.value_dim) return;
  const float decay = exponential(-slopes[base[3] + head]);
  const uint mine = base[4] + head * KEY_DIM * p.value_dim + c;
  float s[KEY_DIM];
  for (uint d = 0; d < KEY_DIM; d++) s[d] = state[mine + d * p.value_dim];
  for (uint t = 0; t < p.tokens; t++) {
    const uint query = base[0] + t * p.q_stride + head * KEY_DIM, key = base[1] + t * p.k_stride + head * KEY_DIM;
    const float value = v[base[2] + t * p.v_stride + head * p.value_dim + c];
    float sum = 0.0;
    for (uint d = 0; d < KEY_DIM; d++) {
      s[d] = decay * s[d] + k[key + d] * value;
      sum += p.scale * q[query + d] * s[d];
    }
    o[base[5] + t * p.o_stride + head * p.value_dim + c] = sum;
  }
  for (uint d = 0; d < KEY_DIM; d++) state[mine + d * p.value_dim] = s[d];
}
