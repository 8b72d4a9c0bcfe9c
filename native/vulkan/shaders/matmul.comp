#version 450
// y = W x for many rows of x: tiles of 32 tokens by 32 outputs, 64 threads of 4 x 4 results each. Weights are decoded into
// shared memory once a tile; norm, gate and the squares of the norm ride on loading x, exactly as in the matvec
// (linear.comp). fp32 throughout: the exact path.
#extension GL_GOOGLE_include_directive : require
#include "weights.glsl"
#include "linear.glsl"

layout(binding = 2) readonly buffer X { float x[]; };             // [tokens, in]
layout(binding = 3) readonly buffer NormWeight { float norm[]; };  // [in]
layout(binding = 4) readonly buffer Gate { float gate[]; };       // [tokens, in]
layout(binding = 5) readonly buffer Bias { float bias[]; };       // [out]
layout(binding = 6) buffer Y { float y[]; };                      // [tokens, out]
ARGUMENTS(7, LinearParams);

const uint T = 32;           // tokens, outputs and columns a tile
const uint PITCH = T + 1;    // lines begin in different banks
const uint OUTPUTS = T / 2;  // of a SwiGLU tile: its upper half holds the `up` rows of the same outputs

shared float xs[T * PITCH];  // [token, column], later [token, output]
shared float ws[T * PITCH];  // [output, column]
shared float squares[T * 4];

// Columns 8 * part .. + 7 from k0 of line `line` of x and of W.
void load_tile(uint line, uint part, uint k0, uint first_token, uint first, inout float square) {
  const uint k = k0 + part * 8, token = first_token + line;
  const uint half_rows = p.rows / 2, outputs = SWIGLU ? half_rows : p.rows;
  const uint output_row = SWIGLU ? first + line % OUTPUTS : first + line;
  float w[8];
  for (uint i = 0; i < 8; i++) w[i] = 0.0;
  if (output_row < outputs) {
    const Row row = find_row(p.segments, 0, 0, SWIGLU && line >= OUTPUTS ? output_row + half_rows : output_row);
    if (k + 8 <= p.columns) decode8(row, k, w);
    else
      for (uint i = 0; k + i < p.columns; i++) w[i] = decode1(row, k + i);
  }
  for (uint i = 0; i < 8; i++) {
    float value = 0.0;
    if (token < p.tokens && k + i < p.columns)
      value = prepared(x[base[2] + token * p.x_stride + k + i], HAS_NORM ? norm[base[3] + k + i] : 1.0,
                       GATE_KIND != 0 ? gate[base[4] + token * p.gate_stride + k + i] : 0.0, square);
    xs[line * PITCH + part * 8 + i] = value;
    ws[line * PITCH + part * 8 + i] = w[i];
  }
}

void main() {
  const uint thread = gl_LocalInvocationID.x;
  const uint first_token = gl_WorkGroupID.y * T, first = gl_WorkGroupID.x * (SWIGLU ? OUTPUTS : T);
  const uint outputs = SWIGLU ? p.rows / 2 : p.rows;
  const uint top = thread / 8, left = thread % 8;  // results: tokens top + 8 i, outputs left + 8 j
  float sums[4][4];
  for (uint i = 0; i < 4; i++)
    for (uint j = 0; j < 4; j++) sums[i][j] = 0.0;
  float square[2] = float[2](0.0, 0.0);
  for (uint k0 = 0; k0 < p.columns; k0 += T) {
    for (uint half_tile = 0; half_tile < 2; half_tile++)
      load_tile(thread / 4 + half_tile * 16, thread % 4, k0, first_token, first, square[half_tile]);
    barrier();
    for (uint k = 0; k < T; k++) {
      float a[4], b[4];
      for (uint i = 0; i < 4; i++) a[i] = xs[(top + 8 * i) * PITCH + k];
      for (uint j = 0; j < 4; j++) b[j] = ws[(left + 8 * j) * PITCH + k];
      for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) sums[i][j] += a[i] * b[j];
    }
    barrier();
  }
  for (uint i = 0; i < 4; i++)
    for (uint j = 0; j < 4; j++) xs[(top + 8 * i) * PITCH + left + 8 * j] = sums[i][j];
  for (uint half_tile = 0; half_tile < 2; half_tile++)
    squares[(thread / 4 + half_tile * 16) * 4 + thread % 4] = square[half_tile];
  barrier();
  const uint columns = SWIGLU ? OUTPUTS : T;
  for (uint e = thread; e < T * columns; e += 64) {
    const uint line = e / columns, c = e % columns, token = first_token + line;
    if (token >= p.tokens || first + c >= outputs) continue;
    const float total = squares[line * 4] + squares[line * 4 + 1] + squares[line * 4 + 2] + squares[line * 4 + 3];
    const float scale = HAS_NORM ? inverse_rms(total, p.columns, p.eps) : 1.0;
    float value = xs[line * PITCH + c] * scale;
    if (SWIGLU) value = silu(value) * (xs[line * PITCH + OUTPUTS + c] * scale);
    if (HAS_BIAS) value += bias[base[5] + first + c];
    value = activate(ACTIVATION, value) * p.scale;
    const uint to = base[6] + token * p.y_stride + first + c;
    y[to] = ADD_TO ? y[to] + value : value;
  }
}
