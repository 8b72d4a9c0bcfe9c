#include <metal_stdlib>
using namespace metal;
struct P {
  uint n;
};
kernel void k(device float* x [[buffer(0)]], constant P& p [[buffer(1)]], uint t [[thread_position_in_grid]]) {
  p.n = 1;
  x[t] = 1;
}
