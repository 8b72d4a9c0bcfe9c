#include <metal_stdlib>
using namespace metal;
float sum(const float* p) { return p[0]; }
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  float v[2] = {1, 2};
  x[t] = sum(v);
}
