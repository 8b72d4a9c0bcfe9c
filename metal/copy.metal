// Copies and element-wise ops that cannot be fused into another kernel. All are memory-bound, one thread an element.
#include "params.h"
#include "shared/reduce.h"

// y[r, c] = x[r, c]: gathers a view on columns, or places rows side by side.
kernel void copy_rows(
    device const float* x [[buffer(0)]],
    device float* y [[buffer(1)]],
    constant RowsParams& p [[buffer(2)]],
    uint2 at [[thread_position_in_grid]]) {
  if (at.x < p.cols && at.y < p.rows) y[ulong(at.y) * p.y_stride + at.x] = x[ulong(at.y) * p.x_stride + at.x];
}

// Saves and restores snapshots while a pass is being encoded. Sizes are multiples of 4: states, caches and logits are
// words.
kernel void copy_words(
    device const uint* from [[buffer(0)]],
    device uint* to [[buffer(1)]],
    constant CopyParams& p [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
  if (ulong(i) * 4 < p.bytes) to[i] = from[i];
}
kernel void
clear_words(device uint* to [[buffer(0)]], constant CopyParams& p [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  if (ulong(i) * 4 < p.bytes) to[i] = 0;
}

// y = silu(gate) * up, where gate and up come from matrices of different layouts.
kernel void swiglu(
    device const float* gate [[buffer(0)]],
    device const float* up [[buffer(1)]],
    device float* y [[buffer(2)]],
    constant RowsParams& p [[buffer(3)]],
    uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.cols || at.y >= p.rows) return;
  y[ulong(at.y) * p.y_stride + at.x] =
      silu(gate[ulong(at.y) * p.x_stride + at.x]) * up[ulong(at.y) * p.x_stride + at.x];
}

// y += sigmoid(score[row]) * x: the shared expert behind its gate (modeling_qwen3_5_moe.py).
kernel void add_scaled_rows(
    device const float* score [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device float* y [[buffer(2)]],
    constant RowsParams& p [[buffer(3)]],
    uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.cols || at.y >= p.rows) return;
  y[ulong(at.y) * p.y_stride + at.x] += sigmoid(score[ulong(at.y) * p.z_stride]) * x[ulong(at.y) * p.x_stride + at.x];
}

// Row i of y is the cols values of x from places[i] on: results of several timelines.
kernel void stack_rows(
    device const float* x [[buffer(0)]],
    device const uint* places [[buffer(1)]],
    device float* y [[buffer(2)]],
    constant RowsParams& p [[buffer(3)]],
    uint2 at [[thread_position_in_grid]]) {
  if (at.x < p.cols && at.y < p.rows) y[ulong(at.y) * p.y_stride + at.x] = x[places[at.y] + at.x];
}

// The gates of a query projection stored head by head as [query | gate] (modeling_qwen3_5.py).
kernel void gather_gates(
    device const float* x [[buffer(0)]],   // [rows, heads * 2 * dim]
    device float* y [[buffer(1)]],         // [rows, heads * dim]
    constant RowsParams& p [[buffer(2)]],  // z_stride: dim
    uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.cols || at.y >= p.rows) return;
  const uint head = at.x / p.z_stride;
  y[ulong(at.y) * p.y_stride + at.x] = x[ulong(at.y) * p.x_stride + at.x + (head + 1) * p.z_stride];
}
