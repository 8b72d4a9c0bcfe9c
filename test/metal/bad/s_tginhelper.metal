#include <metal_stdlib>
using namespace metal;
template <class T>
float h(float v) {
  threadgroup float s[4];
  s[0] = v;
  return s[0];
}
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) { x[t] = h<float>(1); }
