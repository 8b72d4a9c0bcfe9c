#version 450
// W_up_v of the weighted latents (mla.glsl). One workgroup a query head of a token, a subgroup an element.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "mla.glsl"

layout(binding = 0) readonly buffer Sums { float sums[]; };  // [tokens, query, latent_v]
layout(binding = 1) readonly buffer UpV { uint up_v[]; };    // [kv * dim, latent_v]
layout(binding = 2) writeonly buffer O { float o[]; };       // [tokens, query * dim]
ARGUMENTS(3, MlaParams);
ELEMENT_READER(up, up_v)

void main() {
  const uint lane = gl_SubgroupInvocationID, h = gl_WorkGroupID.x, token = gl_WorkGroupID.y, g = h / (p.query / p.kv);
  const uint latent = base[0] + (token * p.query + h) * p.latent_v;
  for (uint i = gl_SubgroupID; i < p.dim; i += gl_NumSubgroups) {
    float sum = 0.0;
    for (uint c = lane; c < p.latent_v; c += gl_SubgroupSize)
      sum += up(base[1], (g * p.dim + i) * p.latent_v + c) * sums[latent + c];
    sum = subgroupAdd(sum);
    if (subgroupElect()) o[base[2] + token * p.o_stride + h * p.dim + i] = sum;
  }
}
