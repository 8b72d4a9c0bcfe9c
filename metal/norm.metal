// Norms as ops of their own: final hidden state, MTP head, encoder. One simdgroup a row, so that the sum needs no
// threadgroup memory; inside a layer the norm is part of the projection that follows it (linear.metal).
#include "params.h"
#include "shared/reduce.h"

// y = x * rsqrt(mean(x^2) + eps) * w
kernel void rms_norm(
    device const float* x [[buffer(0)]],  // [rows, n]
    device const float* w [[buffer(1)]],  // [n]
    device float* y [[buffer(2)]],
    constant NormParams& p [[buffer(3)]],
    uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  x += ulong(row) * p.x_stride;
  y += ulong(row) * p.y_stride;
  float squares = 0;
  for (uint i = lane; i < p.n; i += 32) squares += x[i] * x[i];
  const float scale = inverse_rms(squares, p.n, p.eps);
  for (uint i = lane; i < p.n; i += 32) y[i] = x[i] * scale * w[i];
}

constant bool ADDS [[function_constant(5)]];

// y = (v - mean(v)) / sqrt(var(v) + eps) * w + b, v = x + add, population variance. The variance is
// taken of the centred values: E[v^2] - mean^2 loses digits.
kernel void layer_norm(
    device const float* x [[buffer(0)]],
    device const float* add [[buffer(1)]],
    device const float* w [[buffer(2)]],
    device const float* b [[buffer(3)]],
    device float* y [[buffer(4)]],
    constant NormParams& p [[buffer(5)]],
    uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  x += ulong(row) * p.x_stride;
  add += ulong(row) * p.add_stride;
  y += ulong(row) * p.y_stride;
  float sum = 0;
  for (uint i = lane; i < p.n; i += 32) sum += ADDS ? x[i] + add[i] : x[i];
  const float mean = simd_sum(sum) / float(p.n);
  float squares = 0;
  for (uint i = lane; i < p.n; i += 32) {
    const float centred = (ADDS ? x[i] + add[i] : x[i]) - mean;
    squares += centred * centred;
  }
  const float scale = inverse_rms(squares, p.n, p.eps);
  for (uint i = lane; i < p.n; i += 32) y[i] = ((ADDS ? x[i] + add[i] : x[i]) - mean) * scale * w[i] + b[i];
}
