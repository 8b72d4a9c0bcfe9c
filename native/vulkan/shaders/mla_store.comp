#version 450
// Rotates and appends the rope keys, then the latents (mla.glsl). One workgroup a slice of a token's row.
#extension GL_GOOGLE_include_directive : require
#include "cache.glsl"
#include "mla.glsl"

layout(binding = 0) readonly buffer Projected { float projected[]; };  // [tokens, q | k_rope | latent]
layout(binding = 1) readonly buffer Retained { int retained[]; };              // [kv, rope_dim]
layout(binding = 2) readonly buffer Frequencies { float inv_freq[]; };
layout(binding = 3) readonly buffer Positions { int positions[]; };
layout(binding = 4) buffer RopeKeys { uint rope_keys[]; };
layout(binding = 5) buffer Latents { uint latents[]; };
ARGUMENTS(6, MlaParams);

shared float stored[kLatentSlice];
CACHE_WRITER(store_rope, rope_keys, stored)
CACHE_WRITER(store_latent, latents, stored)

float rope_key(uint from, uint i, float position) {
  const uint half_dims = p.rope_dim / 2;
  const vec2 turn = sine_cosine(position * inv_freq[base[2] + uint(retained[base[1] + i]) % (p.dim / 2)]);
  const float other = i % p.rope_dim < half_dims ? -projected[from + i + half_dims] : projected[from + i - half_dims];
  return rotated(projected[from + i], other, turn, p.attention_scale);
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, token = gl_WorkGroupID.y;
  const uint rope_slices = (p.rope_width + kLatentSlice - 1) / kLatentSlice;
  const bool is_rope = gl_WorkGroupID.x < rope_slices;
  const uint start = (is_rope ? gl_WorkGroupID.x : gl_WorkGroupID.x - rope_slices) * kLatentSlice;
  const uint width = min(kLatentSlice, (is_rope ? p.rope_width : p.latent_width) - start);
  const uint from = base[0] + token * p.p_stride + p.query * p.dim + (is_rope ? 0 : p.rope_width);
  const float position = float(positions[base[3] + token]);
  for (uint i = thread; i < width; i += threads)
    stored[i] = is_rope ? rope_key(from, start + i, position) : projected[from + start + i];
  barrier();
  if (is_rope) store_rope(base[4] * 4 + (p.past + token) * p.rope_row_bytes + cache_bytes(start), width);
  else store_latent(base[5] * 4 + (p.past + token) * p.latent_row_bytes + cache_bytes(start), width);
}
