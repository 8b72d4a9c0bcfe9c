#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], int t [[thread_position_in_grid]]) { x[t] = 1; }
