#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (float y = x[t]; y > 0) x[t] = 1;
}
