#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  threadgroup float s[32];
  s[t] = x[t];
  device float* p = s;
  x[t] = p[0];
}
