#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  if (t < 64) x[t] = 1;
}
