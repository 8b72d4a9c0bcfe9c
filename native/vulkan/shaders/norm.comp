#version 450
// Norms as ops of their own: final hidden state, MTP head, encoder. One workgroup a row; inside a layer the norm is part
// of the projection that follows it (linear.comp).
//   RMS:   y = x * rsqrt(mean(x^2) + eps) * w
//   layer: y = (v - mean(v)) / sqrt(var(v) + eps) * w + b, v = x + add, population variance. The
//          variance is taken of the centred values: E[v^2] - mean^2 loses digits.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(constant_id = 5) const bool ADDS = false;
layout(constant_id = 37) const bool CENTRED = false;

layout(binding = 0) readonly buffer X { float x[]; };  // [rows, n]
layout(binding = 1) readonly buffer Add { float add[]; };
layout(binding = 2) readonly buffer W { float w[]; };
layout(binding = 3) readonly buffer B { float b[]; };
layout(binding = 4) writeonly buffer Y { float y[]; };
ARGUMENTS(5, NormParams);

float value_at(uint row, uint i) {
  const float value = x[base[0] + row * p.x_stride + i];
  return ADDS ? value + add[base[1] + row * p.add_stride + i] : value;
}

void main() {
  const uint row = gl_WorkGroupID.x, thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  float mean = 0.0;
  if (CENTRED) {
    float sum = 0.0;
    for (uint i = thread; i < p.n; i += threads) sum += value_at(row, i);
    mean = group_sum(sum) / float(p.n);
  }
  float squares = 0.0;
  for (uint i = thread; i < p.n; i += threads) {
    const float centred = value_at(row, i) - mean;
    squares += centred * centred;
  }
  const float scale = inverse_rms(group_sum(squares), p.n, p.eps);
  for (uint i = thread; i < p.n; i += threads) {
    const float value = (value_at(row, i) - mean) * scale * w[base[2] + i];
    y[base[4] + row * p.y_stride + i] = CENTRED ? value + b[base[3] + i] : value;
  }
}
