#include <metal_stdlib>
using namespace metal;
kernel void histogram(
    device const uint* values [[buffer(0)]], device atomic_uint* bins [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(bins + values[i], 1u, memory_order_relaxed);
  atomic_fetch_max_explicit(bins + 3, values[i], memory_order_relaxed);
}
