#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) { x[t] = max(x[t], 1); }
