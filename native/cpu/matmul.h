// y = W x over the segments of a matrix.
#pragma once

#include <cstdint>

#include "cpu/kernels.h"
#include "cpu/weight.h"

namespace longhand::cpu {

// [tokens, in] as the kernels want it: fp32 as given and, when a segment is packed, either codes with a scale every 32
// columns (fast path) or the sums of 16 columns (exact path).
struct Activations {
  const float* x = nullptr;
  int64_t stride = 0, tokens = 0, in = 0;
  const int8_t* codes = nullptr;       // [tokens, in]
  const float* scales = nullptr;       // [tokens, in / 32]
  const int32_t* code_sums = nullptr;  // [tokens, in / 16]
  const float* sums = nullptr;         // [tokens, in / 16]

  Activations token(int64_t first, int64_t count) const;
};

// y[t][i] = W[first + i] . x[t] for i in [0, count). A result does not depend on the number of tokens or of rows.
void matmul_tile(const Kernels& kernels, const CpuWeight& weight, int64_t first, int64_t count, const Activations& x,
                 float* y, int64_t y_stride);

}  // namespace longhand::cpu
