#version 450
// Attention over latents (latent.glsl). One workgroup a query head of a token; long contexts are split over workgroups, and
// latent_combine merges their weighted latents.
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
layout(binding = 9) writeonly buffer O { float o[]; };  // [tokens, query * dim]; split: [split, tokens, query, latent_v + 2]
layout(push_constant, std430) uniform Push { uint base[10]; LatentWindowParams w; };

const uint VALUES = (512 + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;  // latent values of a thread
shared float raw[512];        // the kept dims of the query
shared float absorbed[1024];  // rope part, then W_up_k^T of the rest; last the weighted latent
ROTATED(rotated, raw)
CACHE_READER(rope_key, rope_keys)
CACHE_READER(latent, latents)

void absorb(uint token, uint h, uint g) {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, rest_dim = w.all.dim - w.all.rope_dim;
  const uint query = base[0] + token * w.all.p_stride + h * w.all.dim, kept_g = base[1] + g * w.all.rope_dim;
  const float position = float(positions[base[3] + token]);
  for (uint j = thread; j < w.all.rope_dim; j += threads) raw[j] = projected[query + uint(kept[kept_g + j])];
  barrier();
  for (uint j = thread; j < w.all.rope_dim; j += threads) absorbed[j] = rotated(0, j, uint(kept[kept_g + j]), position, w.all);
  for (uint c = thread; c < w.all.latent_k; c += threads) {
    float sum = 0.0;
    for (uint r = 0; r < rest_dim; r++)
      sum += projected[query + uint(rest[base[8] + g * rest_dim + r])] * up_k[base[6] + (g * rest_dim + r) * w.all.latent_k + c];
    absorbed[w.all.rope_dim + c] = sum;
  }
  barrier();
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint token = gl_WorkGroupID.y, h = gl_WorkGroupID.x, g = h / (w.all.query / w.all.kv), seen = w.all.past + token + 1;
  begin_rows();
  absorb(token, h, g);
  float sums[VALUES];
  for (uint i = 0; i < VALUES; i++) sums[i] = 0.0;
  const uint split = w.first_split + gl_WorkGroupID.z, bound = w.first_split * w.split_keys;
  const uint end = min(seen, (split + 1) * w.split_keys);
  for (uint start = split * w.split_keys; start < end; start += TILE) {
    const uint count = min(TILE, end - start);
    barrier();
    for (uint j = gl_SubgroupID; j < count; j += gl_NumSubgroups) {
      const uint rope_row = base[4] * 4 + (start + j - bound) * w.all.rope_row_bytes;
      const uint latent_row = base[5] * 4 + (start + j - bound) * w.all.latent_row_bytes;
      float score = 0.0;
      for (uint i = lane; i < w.all.rope_dim; i += lanes) score += absorbed[i] * rope_key(rope_row, g * w.all.rope_dim + i);
      for (uint i = lane; i < w.all.latent_k; i += lanes) score += absorbed[w.all.rope_dim + i] * latent(latent_row, i);
      score = w.all.scale * subgroupAdd(score);
      if (subgroupElect()) scores[j] = score;
    }
    barrier();
    weigh(1, count);
    barrier();
    for (uint i = 0; i < VALUES; i++) {
      const uint c = i * threads + thread;
      if (c >= w.all.latent_v) break;
      sums[i] *= keeps[0];
      for (uint j = 0; j < count; j++)
        sums[i] += scores[j] * latent(base[5] * 4 + (start + j - bound) * w.all.latent_row_bytes, w.all.latent_v_first + c);
    }
  }
  barrier();
  const bool parts = w.splits > 1;
  const uint part = base[9] + ((split * w.all.tokens + token) * w.all.query + h) * (w.all.latent_v + 2);
  for (uint i = 0; i < VALUES; i++) {
    const uint c = i * threads + thread;
    if (c >= w.all.latent_v) break;
    if (parts) o[part + c] = sums[i];
    else absorbed[c] = sums[i] / totals[0];
  }
  if (parts) {
    if (thread == 0) {
      o[part + w.all.latent_v] = peaks[0];
      o[part + w.all.latent_v + 1] = totals[0];
    }
    return;
  }
  barrier();
  for (uint i = thread; i < w.all.dim; i += threads) {
    float sum = 0.0;
    for (uint c = 0; c < w.all.latent_v; c++) sum += up_v[base[7] + (g * w.all.dim + i) * w.all.latent_v + c] * absorbed[c];
    o[base[9] + token * w.all.o_stride + h * w.all.dim + i] = sum;
  }
}
