#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  x[t] = float(t);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float v = x[63 - t];
  threadgroup_barrier(mem_flags::mem_device);
  x[t] = v;
}
