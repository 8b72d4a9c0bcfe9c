#include <metal_stdlib>
using namespace metal;
float f(device const float* p) { return p[0]; }
kernel void k(device float* x [[buffer(0)]], constant float* c [[buffer(1)]], uint t [[thread_position_in_grid]]) {
  x[t] = f(c);
}
