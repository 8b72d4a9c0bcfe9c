#pragma once

#include <cstdint>

#include "cpu/kernels.h"
#include "cpu/weight.h"

namespace longhand::cpu {

// y[t][i] = W[first + i] . x[t] for i in [0, count), t in [0, tokens). A result does not depend on `tokens` or `count`.
void matmul_tile(const Kernels& kernels, const CpuWeight& weight, int64_t first, int64_t count, const float* x,
                 int64_t x_stride, int64_t tokens, float* y, int64_t y_stride);

}  // namespace longhand::cpu
