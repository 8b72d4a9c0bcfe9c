#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_threadgroup]],
              uint g [[thread_position_in_grid]]) {
  threadgroup float s[64];
  s[t] = x[g];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float v = s[63 - t];
  s[t] = v;
  x[g] = v;
}
