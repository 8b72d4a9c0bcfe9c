#pragma once

#include <cstdint>

namespace longhand::cpu {

// y = x * rsqrt(mean(x^2) + eps) * weight; y may be x.
void rms_norm_row(const float* x, const float* weight, float eps, int64_t n, float* y);
float dot(const float* a, const float* b, int64_t n);

}  // namespace longhand::cpu
