#include "cpu/activation.h"

#include <cmath>

#include "cpu/kernels/scalar.h"

namespace longhand::cpu::scalar {

void silu(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = cpu::silu(x[i]);
}

void multiply_silu(float* x, const float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] *= cpu::silu(z[i]);
}

void multiply_sigmoid(float* x, const float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] *= cpu::sigmoid(z[i]);
}

void gelu_erf(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678118654752f));
}

void gelu_tanh(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    x[i] = 0.5f * x[i] * (1.0f + std::tanh(0.79788456080286536f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

}  // namespace longhand::cpu::scalar
