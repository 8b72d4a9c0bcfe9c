// y = W x for up to eight rows of x, with everything that fuses around a projection. Bound by the bytes of W: a
// simdgroup owns four or eight rows of W, its lanes walk over the columns in steps of 8, nothing goes through
// threadgroup memory. A row's own additions are the same whoever shares its simdgroup: how many do is tuned by device.
//
// The RMS norm in front costs no pass over x: every simdgroup sees the whole row anyway, so it sums the squares beside
// the products and scales at the end (x * rsqrt(..) * g . w = rsqrt(..) * (x * g . w)).
// Rows of x are independent chains of the same additions: M rows at once give the bits of M rows one by one.
#include "blocks.h"
#include "instantiate.h"

constant uint TOKENS [[function_constant(0)]];
constant bool HAS_NORM [[function_constant(1)]];
constant uint GATE_KIND [[function_constant(2)]];
constant bool HAS_BIAS [[function_constant(3)]];
constant uint ACTIVATION [[function_constant(4)]];
constant bool ADD_TO [[function_constant(5)]];
constant bool SWIGLU [[function_constant(6)]];
constant bool BY_EXPERT [[function_constant(7)]];
constant uint ROWS [[function_constant(24)]];  // of W a simdgroup: 4 or 8

constant constexpr uint MAX_ROWS = 8;
constant constexpr uint MAX_TOKENS = 8;

// x with norm weight and gate applied; adds its square to `squares`.
static inline float prepared(float x, float norm, float gate, thread float& squares) {
  squares += x * x;
  if (HAS_NORM) x *= norm;
  if (GATE_KIND == 1) x *= sigmoid(gate);
  if (GATE_KIND == 2) x *= silu(gate);
  return x;
}

template <class L>
[[kernel]] void linear_vec(
    device const uchar* weights [[buffer(0)]],
    device const WeightSegment* segments [[buffer(1)]],
    device const float* x [[buffer(2)]],      // [tokens, in]
    device const float* norm [[buffer(3)]],   // [in]
    device const float* gate [[buffer(4)]],   // [tokens, in]
    device const float* bias [[buffer(5)]],   // [out]
    device const int* experts [[buffer(6)]],  // [tokens * topk]
    device float* y [[buffer(7)]],            // [tokens, out]
    constant LinearParams& p [[buffer(8)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  // With experts the grid's second axis is the slot (token, choice), one row of x each.
  const uint slot = group.y;
  const uint expert = BY_EXPERT ? uint(experts[slot]) : 0;
  const uint token = BY_EXPERT ? slot / p.topk : 0;
  const uint half_rows = p.rows / 2;
  const uint outputs = SWIGLU ? half_rows : p.rows;
  const uint per_group = SWIGLU ? ROWS / 2 : ROWS;  // outputs a simdgroup
  const uint first = (group.x * simdgroups + simdgroup) * per_group;
  if (first >= outputs) return;

  Row rows[MAX_ROWS];
  for (uint r = 0; r < ROWS; r++) {
    const uint output = min(first + (SWIGLU ? r % (ROWS / 2) : r), outputs - 1);
    rows[r] =
        find_row(segments, p.segments, p.expert_tables, expert, SWIGLU && r >= ROWS / 2 ? output + half_rows : output);
  }
  float sums[MAX_ROWS][MAX_TOKENS];
  float squares[MAX_TOKENS];
  for (uint m = 0; m < TOKENS; m++) {
    squares[m] = 0;
    for (uint r = 0; r < ROWS; r++) sums[r][m] = 0;
  }

  x += ulong(token) * p.x_stride;
  gate += ulong(token) * p.gate_stride;
  const uint whole = p.in / 8 * 8;
  for (uint k = lane * 8; k < whole; k += 256) {
    float values[MAX_TOKENS][8];
    for (uint m = 0; m < TOKENS; m++)
      for (uint i = 0; i < 8; i++)
        values[m][i] = prepared(
            x[ulong(m) * p.x_stride + k + i], HAS_NORM ? norm[k + i] : 1.0f,
            GATE_KIND != 0 ? gate[ulong(m) * p.gate_stride + k + i] : 0.0f, squares[m]);
    for (uint r = 0; r < ROWS; r++) {
      float w[8];
      L::decode8(weights, rows[r], k, w);
      for (uint m = 0; m < TOKENS; m++)
        for (uint i = 0; i < 8; i++) sums[r][m] += w[i] * values[m][i];
    }
  }
  if (whole + lane < p.in) {  // plain layouts with a ragged row
    const uint k = whole + lane;
    for (uint m = 0; m < TOKENS; m++) {
      const float value = prepared(
          x[ulong(m) * p.x_stride + k], HAS_NORM ? norm[k] : 1.0f,
          GATE_KIND != 0 ? gate[ulong(m) * p.gate_stride + k] : 0.0f, squares[m]);
      for (uint r = 0; r < ROWS; r++) sums[r][m] += L::decode1(weights, rows[r], k) * value;
    }
  }

  for (uint m = 0; m < TOKENS; m++) {
    const float scale = HAS_NORM ? inverse_rms(squares[m], p.in, p.eps) : 1.0f;
    float value = 0, up = 0;
    for (uint r = 0; r < ROWS; r++) {
      const float result = simd_sum(sums[r][m]) * scale;
      if (lane == r) value = result;
      if (SWIGLU && lane + per_group == r) up = result;
    }
    if (lane >= per_group || first + lane >= outputs) continue;
    const uint output = first + lane;
    if (SWIGLU) value = silu(value) * up;
    if (HAS_BIAS) value += bias[output];
    value = activate(ACTIVATION, value) * p.scale;
    device float* to = y + ulong(BY_EXPERT ? slot : m) * p.y_stride + output;
    *to = ADD_TO ? *to + value : value;
  }
}
INSTANTIATE(linear_vec)

// add_to[t] += sum_i weight_i W[expert_i] h_i: the experts of a token summed in one place, in order, so that no two
// threadgroups add to the same element.
template <class L>
[[kernel]] void expert_down(
    device const uchar* weights [[buffer(0)]],
    device const WeightSegment* segments [[buffer(1)]],
    device const float* h [[buffer(2)]],            // [tokens * topk, in]
    device const int* experts [[buffer(3)]],        // [tokens * topk]
    device const float* probability [[buffer(4)]],  // [tokens, topk]
    device float* y [[buffer(5)]],                  // [tokens, out]
    constant ExpertDownParams& p [[buffer(6)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint token = group.y;
  const uint first = (group.x * simdgroups + simdgroup) * ROWS;
  if (first >= p.rows) return;
  float totals[MAX_ROWS];
  for (uint r = 0; r < ROWS; r++) totals[r] = 0;
  const uint whole = p.in / 8 * 8;
  for (uint slot = token * p.topk; slot < (token + 1) * p.topk; slot++) {
    device const float* x = h + ulong(slot) * p.h_stride;
    const float share = probability[ulong(token) * p.weight_stride + slot - token * p.topk];
    for (uint r = 0; r < ROWS; r++) {
      const Row row = find_row(segments, p.segments, p.expert_tables, uint(experts[slot]), min(first + r, p.rows - 1));
      float sum = 0;
      for (uint k = lane * 8; k < whole; k += 256) {
        float w[8];
        L::decode8(weights, row, k, w);
        for (uint i = 0; i < 8; i++) sum += w[i] * x[k + i];
      }
      if (whole + lane < p.in) sum += L::decode1(weights, row, whole + lane) * x[whole + lane];
      totals[r] += share * simd_sum(sum);
    }
  }
  if (lane >= ROWS || first + lane >= p.rows) return;
  float value = totals[0];
  for (uint r = 1; r < ROWS; r++) value = lane == r ? totals[r] : value;
  y[ulong(token) * p.y_stride + first + lane] += value;
}
INSTANTIATE(expert_down)
