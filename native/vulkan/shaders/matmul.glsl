// y = W x for many rows of x: a workgroup of 64 threads computes a tile of 64 outputs by 32 or 64 tokens, 16 columns at a
// time. A thread owns 8 outputs by 4 or 8 tokens in registers: per column it reads 16 values of shared memory for 64
// multiplications, where the 4 x 4 of before read 8 for 16 (register tiling: Volkov and Demmel, SC 2008). Lines of a tile are one
// word longer than their columns, so that neighbouring lines begin in different banks. Weights are decoded once a tile;
// norm, gate and the squares of the norm ride on loading x, as in the matvec (linear.comp). A thread has the gate and the up
// row of a SwiGLU output both.
//
// SLICES groups of 64 threads share the columns of a tile, since a GPU has room for more threads than tiles of a short
// prompt: slice s takes steps s, s + SLICES, ..., and slice 0 adds the sums up, always in the same order. The additions of
// a result depend on neither the tile nor its neighbours.
//
// HALF: the fast path where the device computes with f16. Eight columns are summed in pairs of f16, then added in fp32; x
// is divided by the largest of its eight values before, since activations may exceed what f16 holds.
#extension GL_GOOGLE_include_directive : require
#include "weights.glsl"
#include "linear.glsl"

layout(constant_id = 0) const uint TOKENS = 64;  // a tile: 32 or 64
layout(constant_id = 41) const uint SLICES = 1;

layout(binding = 2) readonly buffer X { float x[]; };             // [tokens, in]
layout(binding = 3) readonly buffer NormWeight { float norm[]; };  // [in]
layout(binding = 4) readonly buffer Gate { float gate[]; };       // [tokens, in]
layout(binding = 5) readonly buffer Bias { float bias[]; };       // [out]
layout(binding = 6) buffer Y { float y[]; };                      // [tokens, out]
ARGUMENTS(7, LinearParams);

const uint LINES = kMatmulOutputs;  // rows of W a tile; with SwiGLU the upper half are `up` rows of the same outputs
const uint COLUMNS = 16;
const uint PARTS = COLUMNS / 8;
const uint WIDE = 8;             // outputs of a thread: left + 8 j
const uint TALL = TOKENS / 8;    // tokens of a thread: top + 8 i

shared float squares[SLICES * 64 * PARTS];
shared float added[SLICES * 64 * WIDE];  // a row of every slice's sums
#ifdef HALF
const uint PITCH = COLUMNS / 2 + 1;
shared f16vec2 xs[SLICES * 64 * PITCH];     // [token, column], two a word
shared f16vec2 ws[SLICES * LINES * PITCH];  // [output, column]
shared float peaks[SLICES * 64 * PARTS];    // what eight values of x were divided by
#else
const uint PITCH = COLUMNS + 1;
shared float xs[SLICES * 64 * PITCH];
shared float ws[SLICES * LINES * PITCH];
#endif

uint slice() { return gl_LocalInvocationID.x / 64; }
uint x_line(uint line) { return slice() * 64 + line; }
uint w_line(uint line) { return slice() * LINES + line; }

const uint FETCHED_ROWS = LINES * PARTS / 64, FETCHED_TOKENS = TOKENS * PARTS / 64;  // eight columns each, of a thread

// Columns k .. k + 7 of row `line` of the tile of W.
void fetch_weights(uint line, uint k, uint first, out float w[8]) {
  const uint half_rows = p.rows / 2, outputs = SWIGLU ? half_rows : p.rows;
  const uint output_row = first + (SWIGLU ? line % (LINES / 2) : line);
  for (uint i = 0; i < 8; i++) w[i] = 0.0;
  if (output_row >= outputs) return;
  const Row row = find_row(p.segments, 0, 0, SWIGLU && line >= LINES / 2 ? output_row + half_rows : output_row);
  if (k + 8 <= p.columns) decode8(row, k, w);
  else
    for (uint i = 0; k + i < p.columns; i++) w[i] = decode1(row, k + i);
}

void fetch_tokens(uint token, uint k, inout float square, out float values[8]) {
  for (uint i = 0; i < 8; i++) {
    values[i] = 0.0;
    if (token < p.tokens && k + i < p.columns)
      values[i] = prepared(x[base[2] + token * p.x_stride + k + i], HAS_NORM ? norm[base[3] + k + i] : 1.0,
                           GATE_KIND != 0 ? gate[base[4] + token * p.gate_stride + k + i] : 0.0, square);
  }
}

void store_weights(uint line, uint part, float w[8]) {
#ifdef HALF
  for (uint i = 0; i < 4; i++) ws[w_line(line) * PITCH + part * 4 + i] = f16vec2(w[2 * i], w[2 * i + 1]);
#else
  for (uint i = 0; i < 8; i++) ws[w_line(line) * PITCH + part * 8 + i] = w[i];
#endif
}

void store_tokens(uint line, uint part, float values[8]) {
#ifdef HALF
  float peak = 0.0;
  for (uint i = 0; i < 8; i++) peak = max(peak, abs(values[i]));
  const float inverse = peak > 0.0 ? 1.0 / peak : 0.0;
  peaks[x_line(line) * PARTS + part] = peak;
  for (uint i = 0; i < 4; i++)
    xs[x_line(line) * PITCH + part * 4 + i] = f16vec2(values[2 * i] * inverse, values[2 * i + 1] * inverse);
#else
  for (uint i = 0; i < 8; i++) xs[x_line(line) * PITCH + part * 8 + i] = values[i];
#endif
}

// This thread's part of what its slice computes with in the step from column `step` on.
void fetch(uint step, uint first, uint first_token, inout float square[FETCHED_TOKENS], out float w[FETCHED_ROWS][8],
           out float values[FETCHED_TOKENS][8]) {
  const uint thread = gl_LocalInvocationID.x % 64, k = step + slice() * COLUMNS + thread % PARTS * 8;
  for (uint n = 0; n < FETCHED_ROWS; n++) fetch_weights((n * 64 + thread) / PARTS, k, first, w[n]);
  for (uint n = 0; n < FETCHED_TOKENS; n++)
    fetch_tokens(first_token + (n * 64 + thread) / PARTS, k, square[n], values[n]);
}

// Adds the sums of the other slices to those of slice 0.
void add_up(inout float sums[TALL][WIDE]) {
  const uint thread = gl_LocalInvocationID.x;
  for (uint i = 0; i < TALL; i++) {
    for (uint j = 0; j < WIDE; j++) added[thread * WIDE + j] = sums[i][j];
    barrier();
    for (uint s = 1; s < SLICES; s++)
      for (uint j = 0; j < WIDE; j++) sums[i][j] += added[(s * 64 + thread % 64) * WIDE + j];
    barrier();
  }
}

void main() {
  const uint thread = gl_LocalInvocationID.x % 64;
  const uint wide = SWIGLU ? LINES / 2 : LINES;
  const uint first_token = gl_WorkGroupID.y * TOKENS, first = gl_WorkGroupID.x * wide;
  const uint outputs = SWIGLU ? p.rows / 2 : p.rows;
  const uint top = thread / 8, left = thread % 8;
  float sums[TALL][WIDE];
  for (uint i = 0; i < TALL; i++)
    for (uint j = 0; j < WIDE; j++) sums[i][j] = 0.0;
  float square[FETCHED_TOKENS];
  for (uint n = 0; n < FETCHED_TOKENS; n++) square[n] = 0.0;

  // What the next step needs is on its way while this one is computed.
  float w[FETCHED_ROWS][8], values[FETCHED_TOKENS][8];
  fetch(0, first, first_token, square, w, values);
  for (uint step = 0; step < p.columns; step += SLICES * COLUMNS) {
    for (uint n = 0; n < FETCHED_ROWS; n++) store_weights((n * 64 + thread) / PARTS, thread % PARTS, w[n]);
    for (uint n = 0; n < FETCHED_TOKENS; n++) store_tokens((n * 64 + thread) / PARTS, thread % PARTS, values[n]);
    barrier();
    if (step + SLICES * COLUMNS < p.columns) fetch(step + SLICES * COLUMNS, first, first_token, square, w, values);
#ifdef HALF
    for (uint part = 0; part < PARTS; part++) {
      f16vec2 b[WIDE][4];
      for (uint j = 0; j < WIDE; j++)
        for (uint c = 0; c < 4; c++) b[j][c] = ws[w_line(left + 8 * j) * PITCH + part * 4 + c];
      for (uint i = 0; i < TALL; i++) {
        const uint line = x_line(top + 8 * i);
        for (uint j = 0; j < WIDE; j++) {
          f16vec2 sum = f16vec2(0.0);
          for (uint c = 0; c < 4; c++) sum += xs[line * PITCH + part * 4 + c] * b[j][c];
          sums[i][j] += peaks[line * PARTS + part] * (float(sum.x) + float(sum.y));
        }
      }
    }
#else
    for (uint k = 0; k < COLUMNS; k++) {
      float b[WIDE];
      for (uint j = 0; j < WIDE; j++) b[j] = ws[w_line(left + 8 * j) * PITCH + k];
      for (uint i = 0; i < TALL; i++) {
        const float a = xs[x_line(top + 8 * i) * PITCH + k];
        for (uint j = 0; j < WIDE; j++) sums[i][j] += a * b[j];
      }
    }
#endif
    barrier();
  }
  for (uint n = 0; n < FETCHED_TOKENS; n++) squares[slice() * 64 * PARTS + n * 64 + thread] = square[n];
  add_up(sums);
  if (slice() != 0) return;

  for (uint i = 0; i < TALL; i++) {
    const uint line = top + 8 * i, token = first_token + line;
    if (token >= p.tokens) break;
    float total = 0.0;
    for (uint s = 0; s < SLICES; s++)
      for (uint part = 0; part < PARTS; part++) total += squares[(s * 64 + line) * PARTS + part];
    const float scale = HAS_NORM ? inverse_rms(total, p.columns, p.eps) : 1.0;
    for (uint j = 0; j < (SWIGLU ? WIDE / 2 : WIDE); j++) {
      const uint r = first + left + 8 * j;
      if (r >= outputs) break;
      float value = sums[i][j] * scale;
      if (SWIGLU) value = silu(value) * (sums[i][j + WIDE / 2] * scale);
      if (HAS_BIAS) value += bias[base[5] + r];
      const uint to = base[6] + token * p.y_stride + r;
      value = activate(ACTIVATION, value) * p.scale;
      y[to] = ADD_TO ? y[to] + value : value;
    }
  }
}
