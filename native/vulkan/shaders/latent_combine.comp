#version 450
// Merges the parts of a long context (latent_attention.comp), then W_up_v. One workgroup a query head of a token.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "shared.h"

layout(binding = 0) readonly buffer Parts { float parts[]; };  // [split, tokens, query, latent_v + 2]
layout(binding = 1) readonly buffer UpV { float up_v[]; };     // [kv * dim, latent_v]
layout(binding = 2) writeonly buffer O { float o[]; };         // [tokens, query * dim]
layout(push_constant, std430) uniform Push { uint base[3]; LatentWindowParams w; };

shared float merged[512];

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint head = gl_WorkGroupID.x, token = gl_WorkGroupID.y, width = w.all.latent_v + 2;
  const uint step_words = w.all.tokens * w.all.query * width, first = base[0] + (token * w.all.query + head) * width;
  float peak = LOWEST, all = 0.0;
  for (uint s = 0; s < w.splits; s++) peak = max(peak, parts[first + s * step_words + w.all.latent_v]);
  for (uint s = 0; s < w.splits; s++)
    all += parts[first + s * step_words + w.all.latent_v + 1] * exponential(parts[first + s * step_words + w.all.latent_v] - peak);
  for (uint c = thread; c < w.all.latent_v; c += threads) {
    float value = 0.0;
    for (uint s = 0; s < w.splits; s++)
      value += parts[first + s * step_words + c] * exponential(parts[first + s * step_words + w.all.latent_v] - peak);
    merged[c] = value / all;
  }
  barrier();
  const uint g = head / (w.all.query / w.all.kv);
  for (uint i = thread; i < w.all.dim; i += threads) {
    float sum = 0.0;
    for (uint c = 0; c < w.all.latent_v; c++) sum += up_v[base[1] + (g * w.all.dim + i) * w.all.latent_v + c] * merged[c];
    o[base[2] + token * w.all.o_stride + head * w.all.dim + i] = sum;
  }
}
