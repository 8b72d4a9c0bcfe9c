#version 450
// Rows of a table in any weight layout: y[i] = scale * table[ids[i]]. Eight elements a thread. A table that does not fit
// into one binding comes in parts: each writes the tokens whose rows it has.
#extension GL_GOOGLE_include_directive : require
#include "weights.glsl"

layout(binding = 2) readonly buffer Ids { int ids[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };  // [tokens, in]
ARGUMENTS(4, EmbedRowsParams);

void main() {
  const uint k = gl_GlobalInvocationID.x * 8, token = gl_WorkGroupID.y;
  const uint id = uint(ids[base[2] + token]);
  if (k >= p.columns || id < p.first || id >= p.first + p.rows) return;
  const Row row = find_row(p.segments, 0, 0, id - p.first);
  const uint to = base[3] + token * p.y_stride;
  if (k + 8 <= p.columns) {
    float w[8];
    decode8(row, k, w);
    for (uint i = 0; i < 8; i++) y[to + k + i] = p.scale * w[i];
  } else {
    for (uint i = k; i < p.columns; i++) y[to + i] = p.scale * decode1(row, i);
  }
}
