#version 450
// Copies and element-wise ops that cannot be fused into another kernel. All are memory-bound, one thread an element.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "shared.h"

layout(constant_id = 38) const uint KIND = 0;
// kCopyRows: y = x: gathers a view on columns, or places rows side by side.
// kSwigluRows: y = silu(x) * z, gate and up from matrices of different layouts.
// kAddScaled: y += sigmoid(z[row]) * x: the shared expert behind its gate (modeling_qwen3_5_moe.py).
// kGatherGates: x [rows, heads * (query | gate)]: the gates (modeling_qwen3_5.py); z_stride is the head's dim.
// kStackRows: row i of y is the cols values of x from places[i] on.
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Z { float z[]; };
layout(binding = 1) readonly buffer Places { uint places[]; };
layout(binding = 2) buffer Y { float y[]; };
ARGUMENTS(3, RowsParams);

void main() {
  const uint c = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
  if (c >= p.cols || row >= p.rows) return;
  const uint from = base[0] + row * p.x_stride + c, to = base[2] + row * p.y_stride + c;
  if (KIND == kStackRows) y[to] = x[base[0] + places[base[1] + row] + c];
  if (KIND == kCopyRows) y[to] = x[from];
  if (KIND == kSwigluRows) y[to] = silu(x[from]) * z[base[1] + row * p.z_stride + c];
  if (KIND == kAddScaled) y[to] += sigmoid(z[base[1] + row * p.z_stride]) * x[from];
  if (KIND == kGatherGates) y[to] = x[from + (c / p.z_stride + 1) * p.z_stride];
}
