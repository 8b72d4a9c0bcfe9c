// Small functions every family uses. Sums and exponentials are fp32.
#pragma once

#include <metal_stdlib>
using namespace metal;

static inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
static inline float silu(float x) { return x * sigmoid(x); }
// log(1 + e^x), the sum formed so that no digit of a small e^x is lost: log1p(y) = log(u) y / (u - 1), u = 1 + y.
static inline float softplus(float x) {
  if (x > 20.0f) return x;
  const float y = exp(x);
  const float u = 1.0f + y;
  return u == 1.0f ? y : log(u) * (y / (u - 1.0f));
}

// Abramowitz and Stegun 7.1.26 is good to 1.5e-7 only; this is the rational form of Numerical Recipes' erfc (1.2e-7
// relative), kept relative near zero by the series.
static inline float error_function(float x) {
  const float a = fabs(x);
  if (a < 0.5f) {
    const float s = x * x;
    return x * (1.128379167f +
                s * (-0.376126389f +
                     s * (0.112837917f +
                          s * (-0.026866171f + s * (0.005223978f + s * (-0.000854833f + s * 0.000120553f))))));
  }
  const float t = 1.0f / (1.0f + 0.5f * a);
  const float y =
      t *
      exp(-a * a - 1.26551223f +
          t * (1.00002368f +
               t * (0.37409196f +
                    t * (0.09678418f +
                         t * (-0.18628806f +
                              t * (0.27886807f +
                                   t * (-1.13520398f + t * (1.48851587f + t * (-0.82215223f + t * 0.17087277f)))))))));
  return x < 0 ? y - 1.0f : 1.0f - y;
}

static inline float activate(uint kind, float x) {  // Activation of native/ops/backend.h
  if (kind == 1) return silu(x);
  if (kind == 2) return 0.5f * x * (1.0f + error_function(x * 0.70710678f));
  if (kind == 3) return 0.5f * x * (1.0f + precise::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
  return x;
}

// 1 / sqrt(mean of squares + eps) of n values spread over the 32 lanes of a simdgroup.
static inline float inverse_rms(float lane_sum_of_squares, uint n, float eps) {
  return 1.0f / precise::sqrt(simd_sum(lane_sum_of_squares) / float(n) + eps);
}
