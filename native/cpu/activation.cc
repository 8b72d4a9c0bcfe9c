#include "cpu/activation.h"

#include "cpu/scalar.h"

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

}  // namespace longhand::cpu::scalar
