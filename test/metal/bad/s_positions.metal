#include <metal_stdlib>
using namespace metal;
kernel void k(
    device float* x [[buffer(0)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint t [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]]) {
  x[group.x * threads + t] = 1;
}
