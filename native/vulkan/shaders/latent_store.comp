#version 450
// Rotates and appends the rope keys (first workgroup of a token) and the latents (second).
#extension GL_GOOGLE_include_directive : require
#include "cache.glsl"
#include "latent.glsl"

layout(binding = 0) readonly buffer Projected { float projected[]; };  // [tokens, q | k_rope | latent]
layout(binding = 1) readonly buffer Kept { int kept[]; };              // [kv, rope_dim]
layout(binding = 2) readonly buffer Frequencies { float inv_freq[]; };
layout(binding = 3) readonly buffer Positions { int positions[]; };
layout(binding = 4) buffer RopeKeys { uint rope_keys[]; };
layout(binding = 5) buffer Latents { uint latents[]; };
ARGUMENTS(6, LatentParams);

shared float raw[1024];
shared float stored[1024];
ROTATED(rotated, raw)
CACHE_WRITER(store_rope, rope_keys, stored)
CACHE_WRITER(store_latent, latents, stored)

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, token = gl_WorkGroupID.y;
  const bool is_rope = gl_WorkGroupID.x == 0;
  const uint width = is_rope ? p.rope_width : p.latent_width;
  const uint from = base[0] + token * p.p_stride + p.query * p.dim + (is_rope ? 0 : p.rope_width);
  const float position = float(positions[base[3] + token]);
  for (uint i = thread; i < width; i += threads) raw[i] = projected[from + i];
  barrier();
  for (uint i = thread; i < width; i += threads) {
    const uint first = i / p.rope_dim * p.rope_dim;
    stored[i] = is_rope ? rotated(first, i - first, uint(kept[base[1] + i]), position, p) : raw[i];
  }
  barrier();
  if (is_rope) store_rope(base[4] * 4 + (p.past + token) * p.rope_row_bytes, width);
  else store_latent(base[5] * 4 + (p.past + token) * p.latent_row_bytes, width);
}
