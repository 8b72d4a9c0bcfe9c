#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], device const float* y [[buffer(1)]], uint t [[thread_position_in_grid]]) {
  x[t] = y[t + 1];
}
