#version 450
// InfLLM-v2 (arXiv 2509.24663): new mean keys: window i covers keys [i * stride, i * stride + size). One thread an element
// of a head.
#extension GL_GOOGLE_include_directive : require
#include "cache.glsl"

layout(binding = 0) readonly buffer Keys { uint keys[]; };
layout(binding = 1) buffer Means { float means[]; };  // [windows, heads * dim]
ARGUMENTS(2, CompressParams);

CACHE_READER(key, keys)

void main() {
  const uint at = gl_GlobalInvocationID.x;
  if (at >= p.heads * p.dim) return;
  const uint window = p.first + gl_WorkGroupID.y, head = at / p.dim, d = at % p.dim;
  float sum = 0.0;
  for (uint j = window * p.stride; j < window * p.stride + p.kernel_size; j++)
    sum += key(base[0] * 4 + j * p.row_bytes + head * p.head_bytes, d);
  means[base[1] + window * p.heads * p.dim + at] = sum / float(p.kernel_size);
}
