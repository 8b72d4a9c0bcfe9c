#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  threadgroup float s[63];
  s[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[t] = s[t];
}
