#version 450
// Merges the parts of a long context (mla_attention.comp) into weighted latents. One workgroup a query head of a token.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "shared.h"

layout(binding = 0) readonly buffer Parts { float parts[]; };  // [split, tokens, query, latent_v + 2]
layout(binding = 1) writeonly buffer Sums { float sums[]; };   // [tokens, query, latent_v]
layout(push_constant, std430) uniform Push { uint base[2]; LatentWindowParams w; };

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint row = gl_WorkGroupID.y * w.all.query + gl_WorkGroupID.x, width = w.all.latent_v + 2;
  const uint step_words = w.all.tokens * w.all.query * width, first = base[0] + row * width;
  float peak = LOWEST, all = 0.0;
  for (uint s = 0; s < w.splits; s++) peak = max(peak, parts[first + s * step_words + w.all.latent_v]);
  for (uint s = 0; s < w.splits; s++)
    all += parts[first + s * step_words + w.all.latent_v + 1] * exponential(parts[first + s * step_words + w.all.latent_v] - peak);
  for (uint c = thread; c < w.all.latent_v; c += threads) {
    float value = 0.0;
    for (uint s = 0; s < w.splits; s++)
      value += parts[first + s * step_words + c] * exponential(parts[first + s * step_words + w.all.latent_v] - peak);
    sums[base[1] + row * w.all.latent_v + c] = value / all;
  }
}
