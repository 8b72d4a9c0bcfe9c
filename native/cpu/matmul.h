// y = W x over the segments of a matrix.
#pragma once

#include <cstdint>

#include "cpu/kernels/kernels.h"
#include "cpu/weights/weight.h"

namespace longhand::cpu {

inline constexpr int64_t tokens_a_tile = 128;  // rows of x that a row of weights meets at once

// Activations rounded to 15 bits with a scale every 32 columns (Kernels::quantise), and the sums of their codes. With 8
// bits a small, deep model changes its most likely token at 4 of 100 positions (KLD 3.0e-3 on SmolLM2), with 15 at
// none.
struct Rounding {
  int8_t* codes = nullptr;       // [tokens, 2, in]: high bytes, low bytes
  float* scales = nullptr;       // [tokens, in / 32]
  int32_t* code_sums = nullptr;  // [tokens, in / 16]

  Rounding token(int64_t first, int64_t in) const;
};

// [tokens, in] as the kernels want it: fp32 as given and, when a segment is packed, either its rounding (fast path) or
// the sums of 16 columns (exact path).
struct Activations {
  const float* x = nullptr;
  int64_t stride = 0, tokens = 0, in = 0;
  Rounding rounded;
  const float* sums = nullptr;       // [tokens, in / 16]
  const uint16_t* halves = nullptr;  // [tokens, in]: rounded to bf16, for segments of bf16 (fast path of some sets)

  Activations token(int64_t first, int64_t count) const;
};

// y[t][i] = W[first + i] . x[t] for i in [0, count). A result does not depend on the number of tokens or of rows.
void matmul_tile(const Kernels& kernels, const CpuWeight& weight, int64_t first, int64_t count, const Activations& x,
                 float* y, int64_t y_stride);

}  // namespace longhand::cpu
