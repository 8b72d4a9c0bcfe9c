#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  float v[4] = {1, 2, 3, 4};
  x[t] = v[t & 7];
}
