#version 450
// Attention over latents (mla.glsl). One workgroup a slice of the weighted latent of a query head of a token; scores are
// found anew by every slice. Long contexts are split over workgroups, and mla_combine merges their parts.
#extension GL_GOOGLE_include_directive : require
#include "attention.glsl"

layout(binding = 0) readonly buffer Absorbed { float absorbed[]; };  // [tokens, query, rope_dim + latent_k]
layout(binding = 1) readonly buffer RopeKeys { uint rope_keys[]; };
layout(binding = 2) readonly buffer Latents { uint latents[]; };
layout(binding = 3) writeonly buffer Sums { float sums_out[]; };     // [tokens, query, latent_v]; split: [split, .., latent_v + 2]
layout(push_constant, std430) uniform Push { uint base[4]; LatentWindowParams w; };

const uint VALUES = (kLatentSlice + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;  // latent values of a thread
CACHE_READER(rope_key, rope_keys)
CACHE_READER(latent, latents)

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint slices = (w.all.latent_v + kLatentSlice - 1) / kLatentSlice;
  const uint token = gl_WorkGroupID.y, h = gl_WorkGroupID.x / slices, g = h / (w.all.query / w.all.kv);
  const uint start = gl_WorkGroupID.x % slices * kLatentSlice, width = min(kLatentSlice, w.all.latent_v - start);
  const uint row = token * w.all.query + h, query = base[0] + row * (w.all.rope_dim + w.all.latent_k);
  begin_rows();
  float sums[VALUES];
  for (uint i = 0; i < VALUES; i++) sums[i] = 0.0;
  const uint split = w.first_split + gl_WorkGroupID.z, bound = w.first_split * w.split_keys;
  const uint end = min(w.all.past + token + 1, (split + 1) * w.split_keys);
  for (uint first = split * w.split_keys; first < end; first += TILE) {
    const uint count = min(TILE, end - first);
    barrier();
    for (uint j = gl_SubgroupID; j < count; j += gl_NumSubgroups) {
      const uint rope_row = base[1] * 4 + (first + j - bound) * w.all.rope_row_bytes;
      const uint latent_row = base[2] * 4 + (first + j - bound) * w.all.latent_row_bytes;
      float score = 0.0;
      for (uint i = lane; i < w.all.rope_dim; i += lanes)
        score += absorbed[query + i] * rope_key(rope_row, g * w.all.rope_dim + i);
      for (uint i = lane; i < w.all.latent_k; i += lanes)
        score += absorbed[query + w.all.rope_dim + i] * latent(latent_row, i);
      score = w.all.scale * subgroupAdd(score);
      if (subgroupElect()) scores[j] = score;
    }
    barrier();
    weigh(1, count);
    barrier();
    for (uint i = 0; i < VALUES; i++) {
      const uint c = i * threads + thread;
      if (c >= width) break;
      sums[i] *= rescales[0];
      for (uint j = 0; j < count; j++)
        sums[i] += scores[j] *
                   latent(base[2] * 4 + (first + j - bound) * w.all.latent_row_bytes, w.all.latent_v_first + start + c);
    }
  }
  barrier();
  const bool parts = w.splits > 1;
  const uint to = base[3] + (parts ? (split * w.all.tokens * w.all.query + row) * (w.all.latent_v + 2) : row * w.all.latent_v);
  for (uint i = 0; i < VALUES; i++) {
    const uint c = i * threads + thread;
    if (c >= width) break;
    sums_out[to + start + c] = parts ? sums[i] : sums[i] / totals[0];
  }
  if (parts && thread == 0 && start == 0) {
    sums_out[to + w.all.latent_v] = peaks[0];
    sums_out[to + w.all.latent_v + 1] = totals[0];
  }
}
