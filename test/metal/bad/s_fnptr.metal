#include <metal_stdlib>
using namespace metal;
float g(float x) { return x; }
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  float (*f)(float) = g;
  x[t] = f(1.0f);
}
