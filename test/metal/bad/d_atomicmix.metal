#include <metal_stdlib>
using namespace metal;
kernel void k(device atomic_uint* x [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  atomic_fetch_add_explicit(x, 1u, memory_order_relaxed);
  if (t == 1) ((device uint*)x)[0] = 7;
}
