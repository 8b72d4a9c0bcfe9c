#version 450
// y = W x for up to eight rows of x, with everything that fuses around a projection. Bound by the bytes of W: a subgroup
// owns four rows of W, its lanes walk over the columns in steps of 8, nothing goes through shared memory.
//
// The RMS norm in front costs no pass over x: every subgroup sees the whole row anyway, so it sums the squares beside the
// products and scales at the end (x * rsqrt(..) * g . w = rsqrt(..) * (x * g . w)).
// Rows of x are independent chains of the same additions: M rows at once give the bits of M rows one by one. Sums are
// `precise`, so that no driver forms them in one way for one row and in another for eight.
#extension GL_GOOGLE_include_directive : require
#include "weights.glsl"
#include "linear.glsl"

layout(constant_id = 0) const uint TOKENS = 1;  // 1, 2, 4 or 8: as many as p.tokens or more
layout(constant_id = 7) const bool BY_EXPERT = false;

layout(binding = 2) readonly buffer X { float x[]; };             // [tokens, in]
layout(binding = 3) readonly buffer NormWeight { float norm[]; };  // [in]
layout(binding = 4) readonly buffer Gate { float gate[]; };       // [tokens, in]
layout(binding = 5) readonly buffer Bias { float bias[]; };       // [out]
layout(binding = 6) readonly buffer Experts { int experts[]; };   // [tokens * topk]
layout(binding = 7) buffer Y { float y[]; };                      // [tokens, out]
ARGUMENTS(8, LinearParams);

const uint ROWS = 4;
const uint MAX_TOKENS = 8;

// Rows that are not there repeat the last one; what comes of them is not stored.
uint token_at(uint m) { return min(m, p.tokens - 1); }
float norm_at(uint k) { return HAS_NORM ? norm[base[3] + k] : 1.0; }
float gate_at(uint token, uint k) { return GATE_KIND != 0 ? gate[base[4] + token * p.gate_stride + k] : 0.0; }

void main() {
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  // With experts the grid's second axis is the slot (token, choice), one row of x each.
  const uint slot = gl_WorkGroupID.y;
  const uint expert = BY_EXPERT ? uint(experts[base[6] + slot]) : 0;
  const uint first_token = BY_EXPERT ? slot / p.topk : 0;
  const uint half_rows = p.rows / 2, outputs = SWIGLU ? half_rows : p.rows;
  const uint per_group = SWIGLU ? ROWS / 2 : ROWS;  // outputs a subgroup
  const uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * per_group;
  if (first >= outputs) return;

  Row rows[ROWS];
  for (uint r = 0; r < ROWS; r++) {
    const uint output_row = min(first + (SWIGLU ? r % (ROWS / 2) : r), outputs - 1);
    rows[r] = find_row(p.segments, p.expert_tables, expert, SWIGLU && r >= ROWS / 2 ? output_row + half_rows : output_row);
  }
  precise float sums[ROWS][MAX_TOKENS];
  precise float squares[MAX_TOKENS];
  for (uint m = 0; m < TOKENS; m++) {
    squares[m] = 0.0;
    for (uint r = 0; r < ROWS; r++) sums[r][m] = 0.0;
  }

  const uint whole = p.columns / 8 * 8;
  for (uint k = lane * 8; k < whole; k += lanes * 8) {
    float values[MAX_TOKENS][8];
    for (uint m = 0; m < TOKENS; m++)
      for (uint i = 0; i < 8; i++)
        values[m][i] = prepared(x[base[2] + (first_token + token_at(m)) * p.x_stride + k + i], norm_at(k + i),
                                gate_at(first_token + token_at(m), k + i), squares[m]);
    for (uint r = 0; r < ROWS; r++) {
      float w[8];
      decode8(rows[r], k, w);
      for (uint m = 0; m < TOKENS; m++)
        for (uint i = 0; i < 8; i++) sums[r][m] = fma(w[i], values[m][i], sums[r][m]);
    }
  }
  for (uint k = whole + lane; k < p.columns; k += lanes) {  // plain layouts with a ragged row
    for (uint m = 0; m < TOKENS; m++) {
      const uint token = first_token + token_at(m);
      const float value = prepared(x[base[2] + token * p.x_stride + k], norm_at(k), gate_at(token, k), squares[m]);
      for (uint r = 0; r < ROWS; r++) sums[r][m] = fma(decode1(rows[r], k), value, sums[r][m]);
    }
  }

  for (uint m = 0; m < min(TOKENS, p.tokens); m++) {
    const float scale = HAS_NORM ? inverse_rms(subgroupAdd(squares[m]), p.columns, p.eps) : 1.0;
    float results[ROWS];
    for (uint r = 0; r < ROWS; r++) results[r] = subgroupAdd(sums[r][m]) * scale;
    for (uint r = lane; r < per_group && first + r < outputs; r += lanes) {
      float value = results[r];
      if (SWIGLU) value = silu(value) * results[r + ROWS / 2];
      if (HAS_BIAS) value += bias[base[5] + first + r];
      const uint to = base[7] + (BY_EXPERT ? slot : m) * p.y_stride + first + r;
      value = activate(ACTIVATION, value) * p.scale;
      y[to] = ADD_TO ? y[to] + value : value;
    }
  }
}
