#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* x [[buffer(0)]], uint t [[thread_position_in_grid]]) { x[t] = float4(1, 2, 3); }
