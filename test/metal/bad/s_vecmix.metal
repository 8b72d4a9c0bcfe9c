#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* x [[buffer(0)]], device half4* y [[buffer(1)]], uint t [[thread_position_in_grid]]) {
  x[t] = x[t] * y[t];
}
