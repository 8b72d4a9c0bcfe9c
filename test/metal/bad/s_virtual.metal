#include <metal_stdlib>
using namespace metal;
struct A {
  virtual float f() { return 1; }
};
kernel void k(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) { x[t] = 1; }
