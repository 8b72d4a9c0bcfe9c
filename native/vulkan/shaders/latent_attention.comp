#version 450
// Attention over latents (latent.glsl). One workgroup a query head of a token.
#extension GL_GOOGLE_include_directive : require
#include "attention.glsl"
#include "latent.glsl"

layout(binding = 0) readonly buffer Projected { float projected[]; };  // [tokens, q | k_rope | latent]
layout(binding = 1) readonly buffer Kept { int kept[]; };              // [kv, rope_dim]
layout(binding = 2) readonly buffer Frequencies { float inv_freq[]; };
layout(binding = 3) readonly buffer Positions { int positions[]; };
layout(binding = 4) readonly buffer RopeKeys { uint rope_keys[]; };
layout(binding = 5) readonly buffer Latents { uint latents[]; };
layout(binding = 6) readonly buffer UpK { float up_k[]; };             // [kv * rest, latent_k]
layout(binding = 7) readonly buffer UpV { float up_v[]; };             // [kv * dim, latent_v]
layout(binding = 8) readonly buffer Rest { int rest[]; };              // [kv, dim - rope_dim]
layout(binding = 9) writeonly buffer O { float o[]; };                 // [tokens, query * dim]
ARGUMENTS(10, LatentParams);

const uint VALUES = (512 + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;  // latent values of a thread
shared float raw[512];        // the kept dims of the query
shared float absorbed[1024];  // rope part, then W_up_k^T of the rest; last the weighted latent
ROTATED(rotated, raw)
CACHE_READER(rope_key, rope_keys)
CACHE_READER(latent, latents)

void absorb(uint token, uint h, uint g) {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, rest_dim = p.dim - p.rope_dim;
  const uint query = base[0] + token * p.p_stride + h * p.dim, kept_g = base[1] + g * p.rope_dim;
  const float position = float(positions[base[3] + token]);
  for (uint j = thread; j < p.rope_dim; j += threads) raw[j] = projected[query + uint(kept[kept_g + j])];
  barrier();
  for (uint j = thread; j < p.rope_dim; j += threads) absorbed[j] = rotated(0, j, uint(kept[kept_g + j]), position, p);
  for (uint c = thread; c < p.latent_k; c += threads) {
    float sum = 0.0;
    for (uint r = 0; r < rest_dim; r++)
      sum += projected[query + uint(rest[base[8] + g * rest_dim + r])] * up_k[base[6] + (g * rest_dim + r) * p.latent_k + c];
    absorbed[p.rope_dim + c] = sum;
  }
  barrier();
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint token = gl_WorkGroupID.y, h = gl_WorkGroupID.x, g = h / (p.query / p.kv), seen = p.past + token + 1;
  begin_rows();
  absorb(token, h, g);
  float sums[VALUES];
  for (uint i = 0; i < VALUES; i++) sums[i] = 0.0;
  for (uint start = 0; start < seen; start += TILE) {
    const uint count = min(TILE, seen - start);
    barrier();
    for (uint j = gl_SubgroupID; j < count; j += gl_NumSubgroups) {
      const uint rope_row = base[4] * 4 + (start + j) * p.rope_row_bytes;
      const uint latent_row = base[5] * 4 + (start + j) * p.latent_row_bytes;
      float score = 0.0;
      for (uint i = lane; i < p.rope_dim; i += lanes) score += absorbed[i] * rope_key(rope_row, g * p.rope_dim + i);
      for (uint i = lane; i < p.latent_k; i += lanes) score += absorbed[p.rope_dim + i] * latent(latent_row, i);
      score = p.scale * subgroupAdd(score);
      if (subgroupElect()) scores[j] = score;
    }
    barrier();
    weigh(1, count);
    barrier();
    for (uint i = 0; i < VALUES; i++) {
      const uint c = i * threads + thread;
      if (c >= p.latent_v) break;
      sums[i] *= keeps[0];
      for (uint j = 0; j < count; j++)
        sums[i] += scores[j] * latent(base[5] * 4 + (start + j) * p.latent_row_bytes, p.latent_v_first + c);
    }
  }
  barrier();
  for (uint i = 0; i < VALUES; i++) {
    const uint c = i * threads + thread;
    if (c < p.latent_v) absorbed[c] = sums[i] / totals[0];
  }
  barrier();
  for (uint i = thread; i < p.dim; i += threads) {
    float sum = 0.0;
    for (uint c = 0; c < p.latent_v; c++) sum += up_v[base[7] + (g * p.dim + i) * p.latent_v + c] * absorbed[c];
    o[base[9] + token * p.o_stride + h * p.dim + i] = sum;
  }
}
