#version 450
// Prefill: q | k | v come convolved from memory, the raw o goes to memory. Four tokens' q and k at a time stand in shared
// memory, normalised by one subgroup each.
#extension GL_GOOGLE_include_directive : require
#include "gated_delta.glsl"

layout(binding = 0) readonly buffer Qkv { float qkv[]; };              // [tokens, q | k | v]
layout(binding = 1) readonly buffer Projected { float projected[]; };  // [tokens, q | k | v | z | b | a]
layout(binding = 2) readonly buffer Decay { float decay[]; };          // [value_heads]
layout(binding = 3) readonly buffer DtBias { float dt_bias[]; };       // [value_heads]
layout(binding = 4) buffer State { float state[]; };                   // [value_heads, key_dim, value_dim]
layout(binding = 5) writeonly buffer O { float o[]; };                 // [tokens, value_heads * value_dim]
ARGUMENTS(6, GatedDeltaParams);

const uint CHUNK = 4;
shared float vectors[2 * CHUNK * KEY_DIM];  // [token, q | k]
shared float decays[CHUNK], betas[CHUNK];

// Vector i of the chunk: q of token i / 2 when even, k when odd.
void load_vector(uint i, uint t, uint key_head) {
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint keys = p.key_heads * KEY_DIM, row = base[0] + (t + i / 2) * p.qkv_stride;
  const uint from = row + (i % 2 == 0 ? 0 : keys) + key_head * KEY_DIM;
  float squares = 0.0;
  for (uint j = lane; j < KEY_DIM; j += lanes) squares += qkv[from + j] * qkv[from + j];
  squares = subgroupAdd(squares);
  const float scale = i % 2 == 0 ? query_scale(squares, p.l2_eps) : key_scale(squares, p.l2_eps);
  for (uint j = lane; j < KEY_DIM; j += lanes) vectors[i * KEY_DIM + j] = qkv[from + j] * scale;
}

void main() {
  const uint thread = gl_LocalInvocationID.x, column = gl_WorkGroupID.x * gl_WorkGroupSize.x + thread;
  const uint head = gl_WorkGroupID.y, key_head = key_head_of(head, p.key_heads, p.value_heads);
  const bool owns = column < p.value_dim;
  const uint c = owns ? column : p.value_dim - 1;
  const uint mine = base[4] + head * KEY_DIM * p.value_dim + c;
  const uint keys = p.key_heads * KEY_DIM, first_b = 2 * keys + 2 * p.value_heads * p.value_dim;
  float s[KEY_DIM];
  for (uint j = 0; j < KEY_DIM; j++) s[j] = state[mine + j * p.value_dim];
  for (uint start = 0; start < p.tokens; start += CHUNK) {
    const uint count = min(CHUNK, p.tokens - start);
    barrier();
    for (uint i = gl_SubgroupID; i < 2 * count; i += gl_NumSubgroups) load_vector(i, start, key_head);
    if (thread < count) {
      const uint row = base[1] + (start + thread) * p.p_stride + first_b + head;
      betas[thread] = sigmoid(projected[row]);
      decays[thread] =
          exponential(decay[base[2] + head] * softplus(projected[row + p.value_heads] + dt_bias[base[3] + head]));
    }
    barrier();
    for (uint t = 0; t < count; t++) {
      const uint query = 2 * t * KEY_DIM, key = query + KEY_DIM;
      float seen[CHAINS];
      for (uint i = 0; i < CHAINS; i++) seen[i] = 0.0;
      for (uint j = 0; j < KEY_DIM; j++) {
        s[j] *= decays[t];
        seen[j % CHAINS] += s[j] * vectors[key + j];
      }
      const float v = qkv[base[0] + (start + t) * p.qkv_stride + 2 * keys + head * p.value_dim + c];
      const float u = betas[t] * (v - sum_of(seen));
      float sums[CHAINS];
      for (uint i = 0; i < CHAINS; i++) sums[i] = 0.0;
      for (uint j = 0; j < KEY_DIM; j++) {
        s[j] += vectors[key + j] * u;
        sums[j % CHAINS] += s[j] * vectors[query + j];
      }
      if (owns) o[base[5] + (start + t) * p.o_stride + head * p.value_dim + column] = sum_of(sums);
    }
  }
  if (owns)
    for (uint j = 0; j < KEY_DIM; j++) state[mine + j * p.value_dim] = s[j];
}
