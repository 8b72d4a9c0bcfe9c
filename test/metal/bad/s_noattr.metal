#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], uint t) { x[t] = 1; }
