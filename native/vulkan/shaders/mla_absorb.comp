#version 450
// The query as the cache sees it (mla.glsl): rotated retained dims, then W_up_k^T of the rest. A thread an element.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "mla.glsl"

layout(binding = 0) readonly buffer Projected { float projected[]; };  // [tokens, q | k_rope | latent]
layout(binding = 1) readonly buffer UpK { uint up_k[]; };              // [kv * rest, latent_k]
layout(binding = 2) readonly buffer Retained { int retained[]; };              // [kv, rope_dim]
layout(binding = 3) readonly buffer Rest { int rest[]; };              // [kv, dim - rope_dim]
layout(binding = 4) readonly buffer Frequencies { float inv_freq[]; };
layout(binding = 5) readonly buffer Positions { int positions[]; };
layout(binding = 6) writeonly buffer Absorbed { float absorbed[]; };   // [tokens, query, rope_dim + latent_k]
ARGUMENTS(7, MlaParams);
ELEMENT_READER(up, up_k)

void main() {
  const uint i = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  const uint h = gl_WorkGroupID.y, token = gl_WorkGroupID.z, g = h / (p.query / p.kv);
  const uint width = p.rope_dim + p.latent_k, rest_dim = p.dim - p.rope_dim, half_dims = p.rope_dim / 2;
  if (i >= width) return;
  const uint query = base[0] + token * p.p_stride + h * p.dim, retained_g = base[2] + g * p.rope_dim;
  float value = 0.0;
  if (i < p.rope_dim) {
    const uint original = uint(retained[retained_g + i]);
    const float partner = projected[query + uint(retained[i < half_dims ? retained_g + i + half_dims : retained_g + i - half_dims])];
    const vec2 turn = sine_cosine(float(positions[base[5] + token]) * inv_freq[base[4] + original % (p.dim / 2)]);
    value = rotated(projected[query + original], i < half_dims ? -partner : partner, turn, p.attention_scale);
  } else {
    for (uint r = 0; r < rest_dim; r++) {
      const uint row = g * rest_dim + r;
      value += projected[query + uint(rest[base[3] + row])] * up(base[1], row * p.latent_k + i - p.rope_dim);
    }
  }
  absorbed[base[6] + (token * p.query + h) * width + i] = value;
}
