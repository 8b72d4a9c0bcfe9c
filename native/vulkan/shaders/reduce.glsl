// Sums over a workgroup, whatever the size of a subgroup (4 to 64), and what every kernel begins with.
#ifndef REDUCE
#define REDUCE

#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "numbers.glsl"
#include "../../ops/params.h"

layout(local_size_x_id = 34) in;

// Where an argument begins in its binding, in words: bindings begin at the device's alignment.
#define ARGUMENTS(count, Params) \
  layout(push_constant, std430) uniform Push { uint base[count]; Params p; }

const uint MOST_SUBGROUPS = 64;  // 256 threads in subgroups of 4
shared float partial[MOST_SUBGROUPS];

// Every thread of the workgroup calls these, and gets the result.
float group_sum(float x) {
  x = subgroupAdd(x);
  if (gl_NumSubgroups == 1) return x;
  barrier();
  if (subgroupElect()) partial[gl_SubgroupID] = x;
  barrier();
  float sum = 0.0;
  for (uint s = 0; s < gl_NumSubgroups; s++) sum += partial[s];
  return sum;
}
float group_max(float x) {
  x = subgroupMax(x);
  if (gl_NumSubgroups == 1) return x;
  barrier();
  if (subgroupElect()) partial[gl_SubgroupID] = x;
  barrier();
  float most = partial[0];
  for (uint s = 1; s < gl_NumSubgroups; s++) most = max(most, partial[s]);
  return most;
}

// 1 / sqrt(mean of squares + eps) of n values.
float inverse_rms(float sum_of_squares, uint n, float eps) { return 1.0 / sqrt(sum_of_squares / float(n) + eps); }

#endif
