#version 450
// Scores of the next token on their way to the CPU: copied to memory it reads, and of each tile the peak and the sum of
// exponentials below it, so that it need not walk over a large vocabulary (native/ops/sampling.h). NaN counts as nothing.
// One workgroup a tile of a row.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "shared.h"

layout(binding = 0) readonly buffer X { float x[]; };           // [rows, cols]
layout(binding = 1) writeonly buffer Scores { float scores[]; };  // [rows, cols]
layout(binding = 2) writeonly buffer Tiles { float tiles[]; };    // [rows, tiles, peak | sum]
ARGUMENTS(3, RowsParams);

bool is_number(float value) { return (floatBitsToUint(value) & 0x7fffffffu) <= 0x7f800000u; }

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint tile = gl_WorkGroupID.x, row = gl_WorkGroupID.y;
  const uint first = tile * kScoreTile, end = min(first + kScoreTile, p.cols);
  const uint from = base[0] + row * p.x_stride, to = base[1] + row * p.y_stride;
  float most = LOWEST;
  for (uint i = first + thread; i < end; i += threads) {
    const float score = x[from + i];
    scores[to + i] = score;
    if (is_number(score)) most = max(most, score);
  }
  const float peak = group_max(most);
  float share = 0.0;
  for (uint i = first + thread; i < end; i += threads) {
    const float score = x[from + i];
    if (is_number(score)) share += exponential(score - peak);
  }
  const float sum = group_sum(share);
  const uint at = base[2] + row * p.z_stride + 2 * tile;
  if (thread == 0) {
    tiles[at] = peak;
    tiles[at + 1] = sum;
  }
}
