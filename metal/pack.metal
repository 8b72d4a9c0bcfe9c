// The rows of x that a product in halves reads (matmul_half.metal), made once for all of its tiles: normed, gated, and
// times a power of two of their own, so that the largest element of a row lies just below what a half holds.
// Activations may exceed that, and small rows keep their digits. One simdgroup a row, in two passes.
#include "params.h"
#include "shared/reduce.h"

constant bool HAS_NORM [[function_constant(1)]];
constant uint GATE_KIND [[function_constant(2)]];

static inline float
element(device const float* x, device const float* norm, device const float* gate, uint i, thread float& squares) {
  float value = x[i];
  squares += value * value;
  if (HAS_NORM) value *= norm[i];
  if (GATE_KIND != 0) value *= GATE_KIND == 1 ? sigmoid(gate[i]) : silu(gate[i]);
  return value;
}

kernel void pack_rows(
    device const float* x [[buffer(0)]],     // [rows, in]
    device const float* norm [[buffer(1)]],  // [in]
    device const float* gate [[buffer(2)]],  // [rows, in]
    device half* y [[buffer(3)]],            // [rows, y_stride], zero from column `in` on
    device float* scales [[buffer(4)]],      // [rows]: what a product with a row is multiplied by
    constant PackParams& p [[buffer(5)]],
    uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  x += ulong(row) * p.x_stride;
  gate += ulong(row) * p.gate_stride;
  y += ulong(row) * p.y_stride;
  float squares = 0, peak = 0;
  for (uint i = lane; i < p.in; i += 32) peak = max(peak, fabs(element(x, norm, gate, i, squares)));
  // 2^(14 - e) for a peak from 2^e up to 2^(e + 1), as the bits of a float; and what undoes it.
  const uint exponent = as_type<uint>(simd_max(peak)) >> 23;
  const uint up = clamp(268u - exponent, 1u, 253u);
  const float factor = as_type<float>(up << 23), back = as_type<float>((254u - up) << 23);
  const float scale = HAS_NORM ? back * inverse_rms(squares, p.in, p.eps) : back;
  if (lane == 0) scales[row] = scale;
  for (uint i = lane; i < p.y_stride; i += 32)
    y[i] = i < p.in ? half(element(x, norm, gate, i, squares) * factor) : half(0);
}
