// y = W x over the segments of a matrix.
#pragma once

#include <cstdint>

#include "cpu/kernels/kernels.h"
#include "cpu/weights/weight.h"

namespace longhand::cpu {

// Rows of x that a row of weights meets at once. Decoding weights to bf16 costs as much as multiplying them with fifty
// rows or so: more rows share it.
inline constexpr int64_t tokens_a_tile = 128, tokens_a_decoded_tile = 512;

// Activations rounded to 15 bits with a scale every 32 columns (Kernels::quantise), or to 8 where the low byte is zero,
// and the sums of their codes.
struct Rounding {
  int8_t* codes = nullptr;       // [tokens, 2, in]: high bytes, low bytes
  float* scales = nullptr;       // [tokens, in / 32]
  int32_t* code_sums = nullptr;  // [tokens, in / 16]
  uint8_t* low = nullptr;        // [tokens, in / 32]: which blocks of 32 columns have low bytes; null: all
  // Where the kernels read them and every block tells of its low bytes: the high bytes plus 128, [in / 32][tokens][32].
  uint8_t* blocks = nullptr;
  int64_t block_stride = 0;

  Rounding token(int64_t first, int64_t in) const;
};

// [tokens, in] as the kernels want it: fp32 as given and, when a segment is packed, either its rounding (fast path) or
// the sums of 16 columns (exact path).
struct Activations {
  const float* x = nullptr;
  int64_t stride = 0, tokens = 0, in = 0;
  Rounding rounded;
  const float* sums = nullptr;       // [tokens, in / 16]
  const uint16_t* halves = nullptr;  // rounded to bf16, for segments of bf16 (fast path of some sets)
  int64_t halves_stride = 0;
  bool decodes = false;  // packed segments are decoded to bf16, too, rather than `rounded`

  Activations token(int64_t first, int64_t count) const;
};

// y[t][i] = W[first + i] . x[t] for i in [0, count). A result does not depend on the number of tokens or of rows, only
// on the forms of x.
void matmul_tile(const Kernels& kernels, const CpuWeight& weight, int64_t first, int64_t count, const Activations& x,
                 float* y, int64_t y_stride);

// matmul_bf16.cc: the same for rows [place.row, place.row + count) of a packed segment that is decoded to bf16.
void multiply_decoded(const Kernels& kernels, const RowPlace& place, int64_t count, const Activations& x, float* y,
                      int64_t y_stride);

}  // namespace longhand::cpu
