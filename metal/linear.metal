// y = W x for up to eight rows of x, with everything that fuses around a projection. Bound by the bytes of W, and at
// few bits by instructions: a simdgroup owns four or eight rows of W, its lanes walk over the columns in steps of 8,
// nothing goes through threadgroup memory, and products are summed as dots.h does it. Rows and tokens are known when
// the kernel is compiled, so that no array is indexed by a variable. A row's own additions do not depend on the rows
// that share its simdgroup: their number is tuned by device.
//
// The RMS norm in front costs no pass over x: every simdgroup sees the whole row anyway, so it sums the squares beside
// the products and scales at the end (x * rsqrt(..) * g . w = rsqrt(..) * (x * g . w)).
// Rows of x are independent chains of the same additions: M rows at once give the bits of M rows one by one.
#include "shared/dots.h"
#include "shared/instantiate.h"

constant uint TOKENS [[function_constant(0)]];
constant bool HAS_NORM [[function_constant(1)]];
constant uint GATE_KIND [[function_constant(2)]];
constant bool HAS_BIAS [[function_constant(3)]];
constant uint ACTIVATION [[function_constant(4)]];
constant bool ADD_TO [[function_constant(5)]];
constant bool SWIGLU [[function_constant(6)]];
constant bool BY_EXPERT [[function_constant(7)]];
constant uint ROWS [[function_constant(24)]];  // of W a simdgroup: 4 or 8

// x with norm weight and gate applied; adds its square to `squares`.
static inline float prepared(float x, float norm, float gate, thread float& squares) {
  squares += x * x;
  if (HAS_NORM) x *= norm;
  if (GATE_KIND == 1) x *= sigmoid(gate);
  if (GATE_KIND == 2) x *= silu(gate);
  return x;
}

// Four elements at once, at any alignment.
static inline float4 four(device const float* p) { return float4(*(device const packed_float4*)p); }

// x[k .. k + 7] as it meets W; e is k % 256.
template <class L>
static inline Eight eight_of(
    device const float* x,
    device const float* norm,
    device const float* gate,
    uint k,
    uint e,
    thread float& squares) {
  Eight eight;
  eight.sum = 0;
#pragma clang loop unroll(full)
  for (uint part = 0; part < 2; part++) {
    const float4 values = four(x + k + 4 * part);
    const float4 norms = HAS_NORM ? four(norm + k + 4 * part) : float4(1.0f);
    const float4 gates = GATE_KIND != 0 ? four(gate + k + 4 * part) : float4(0.0f);
#pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
      eight.v[4 * part + i] = prepared(values[i], norms[i], gates[i], squares);
      eight.sum += eight.v[4 * part + i];
    }
  }
  Dot<L>::divide(eight, e);
  return eight;
}

// Inputs and outputs of one simdgroup.
struct Matvec {
  device const uchar* weights;
  device const WeightSegment* segments;
  device const float* x;
  device const float* norm;
  device const float* gate;
  device const float* bias;
  device float* y;
  uint expert, first, outputs, lane;
};

// R rows of W, up to M of x.
template <class L, uint R, uint M>
static inline void multiply(thread const Matvec& mine, constant LinearVecParams& params) {
  constant LinearParams& p = params.linear;
  const uint tokens = M == 1 ? 1 : TOKENS, lane = mine.lane, first = mine.first, outputs = mine.outputs;
  const uint per_group = SWIGLU ? R / 2 : R;
  Rows find(mine.segments, params.only, p.segments, p.expert_tables, mine.expert);
  Row rows[R];
#pragma clang loop unroll(full)
  for (uint r = 0; r < R; r++) {
    const uint output = min(first + (SWIGLU ? r % (R / 2) : r), outputs - 1);
    rows[r] = find.at(SWIGLU && r >= R / 2 ? output + outputs : output);
  }
  float sums[R][M], squares[M];
#pragma clang loop unroll(full)
  for (uint m = 0; m < M; m++) {
    squares[m] = 0;
    for (uint r = 0; r < R; r++) sums[r][m] = 0;
  }

  const uint whole = p.in / 8 * 8;
  const uint e = lane * 8;
  for (uint start = 0; start + e < whole; start += 256) {
#pragma clang loop unroll(full)
    for (uint m = 0; m < M; m++) {
      if (m >= tokens) continue;
      const Eight values = eight_of<L>(
          mine.x + ulong(m) * p.x_stride, mine.norm, mine.gate + ulong(m) * p.gate_stride, start + e, e, squares[m]);
#pragma clang loop unroll(full)
      for (uint r = 0; r < R; r++) sums[r][m] += Dot<L>::dot(mine.weights, rows[r], start, e, values);
    }
  }
  if (whole + lane < p.in) {  // plain layouts with a ragged row
    const uint k = whole + lane;
#pragma clang loop unroll(full)
    for (uint m = 0; m < M; m++) {
      if (m >= tokens) continue;
      const float value = prepared(
          mine.x[ulong(m) * p.x_stride + k], HAS_NORM ? mine.norm[k] : 1.0f,
          GATE_KIND != 0 ? mine.gate[ulong(m) * p.gate_stride + k] : 0.0f, squares[m]);
      for (uint r = 0; r < R; r++) sums[r][m] += L::decode1(mine.weights, rows[r], k) * value;
    }
  }

#pragma clang loop unroll(full)
  for (uint m = 0; m < M; m++) {
    if (m >= tokens) continue;
    const float scale = HAS_NORM ? inverse_rms(squares[m], p.in, p.eps) : 1.0f;
    float value = 0, up = 0;
#pragma clang loop unroll(full)
    for (uint r = 0; r < R; r++) {
      const float result = simd_sum(sums[r][m]) * scale;
      if (lane == r) value = result;
      if (SWIGLU && lane + per_group == r) up = result;
    }
    if (lane >= per_group || first + lane >= outputs) continue;
    const uint output = first + lane;
    if (SWIGLU) value = silu(value) * up;
    if (HAS_BIAS) value += mine.bias[output];
    value = activate(ACTIVATION, value) * p.scale;
    device float* to = mine.y + ulong(m) * p.y_stride + output;
    *to = ADD_TO ? *to + value : value;
  }
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
    constant LinearVecParams& params [[buffer(8)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  constant LinearParams& p = params.linear;
  // With experts the grid's second axis is the slot (token, choice), one row of x each.
  const uint slot = group.y, token = BY_EXPERT ? slot / p.topk : 0;
  const uint outputs = SWIGLU ? p.rows / 2 : p.rows;
  const uint per_group = SWIGLU ? ROWS / 2 : ROWS;  // outputs a simdgroup
  Matvec mine;
  mine.weights = weights;
  mine.segments = segments;
  mine.x = x + ulong(token) * p.x_stride;
  mine.norm = norm;
  mine.gate = gate + ulong(token) * p.gate_stride;
  mine.bias = bias;
  mine.y = y + ulong(BY_EXPERT ? slot : 0) * p.y_stride;
  mine.expert = BY_EXPERT ? uint(experts[slot]) : 0;
  mine.first = (group.x * simdgroups + simdgroup) * per_group;
  mine.outputs = outputs;
  mine.lane = lane;
  if (mine.first >= outputs) return;
  if (TOKENS == 1 && ROWS == 8) multiply<L, 8, 1>(mine, params);
  else if (TOKENS == 1) multiply<L, 4, 1>(mine, params);
  else if (TOKENS <= 4) multiply<L, 4, 4>(mine, params);
  else multiply<L, 4, 8>(mine, params);
}
INSTANTIATE(linear_vec)

// One simdgroup's share of expert_down: R rows of the sum over a token's experts.
template <class L, uint R>
static inline void add_experts(
    device const uchar* weights,
    device const WeightSegment* segments,
    device const float* h,
    device const int* experts,
    device const float* probability,
    device float* y,
    constant ExpertDownVecParams& params,
    uint token,
    uint first,
    uint lane) {
  constant ExpertDownParams& p = params.down;
  float totals[R];
#pragma clang loop unroll(full)
  for (uint r = 0; r < R; r++) totals[r] = 0;
  const uint whole = p.in / 8 * 8;
  for (uint slot = token * p.topk; slot < (token + 1) * p.topk; slot++) {
    device const float* x = h + ulong(slot) * p.h_stride;
    Rows find(segments, params.only, p.segments, p.expert_tables, uint(experts[slot]));
    Row rows[R];
    float sums[R], squares = 0;
#pragma clang loop unroll(full)
    for (uint r = 0; r < R; r++) {
      rows[r] = find.at(min(first + r, p.rows - 1));
      sums[r] = 0;
    }
    const uint e = lane * 8;
    for (uint start = 0; start + e < whole; start += 256) {
      const Eight values = eight_of<L>(x, x, x, start + e, e, squares);
#pragma clang loop unroll(full)
      for (uint r = 0; r < R; r++) sums[r] += Dot<L>::dot(weights, rows[r], start, e, values);
    }
    const float share = probability[ulong(token) * p.weight_stride + slot - token * p.topk];
#pragma clang loop unroll(full)
    for (uint r = 0; r < R; r++) {
      if (whole + lane < p.in) sums[r] += L::decode1(weights, rows[r], whole + lane) * x[whole + lane];
      totals[r] += share * simd_sum(sums[r]);
    }
  }
  if (lane >= R || first + lane >= p.rows) return;
  float value = totals[0];
#pragma clang loop unroll(full)
  for (uint r = 1; r < R; r++) value = lane == r ? totals[r] : value;
  y[ulong(token) * p.y_stride + first + lane] += value;
}

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
    constant ExpertDownVecParams& params [[buffer(6)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint first = (group.x * simdgroups + simdgroup) * ROWS;
  if (first >= params.down.rows) return;
  if (ROWS == 8) add_experts<L, 8>(weights, segments, h, experts, probability, y, params, group.y, first, lane);
  else add_experts<L, 4>(weights, segments, h, experts, probability, y, params, group.y, first, lane);
}
INSTANTIATE(expert_down)
