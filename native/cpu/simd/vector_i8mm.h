// NEON with the 8-bit matrix products of ARMv8.6 (i8mm): unsigned codes as they are, and two rows by two tokens a
// product, 32 multiplications where sdot does 16.
#pragma once

#include "cpu/simd/vector_neon.h"

namespace {

struct I8mm : Neon {
  static constexpr bool pairs = true;

  static constexpr int bias(bool) { return 0; }
  static constexpr bool sums_of_16_bits = false;
  template <bool>
  static I dot4(I sum, I codes, I x) {
    return vusdotq_s32(sum, vreinterpretq_u8_s32(codes), vreinterpretq_s8_s32(x));
  }

  // Eight columns of either token.
  static I eight_of_two(const int8_t* a, const int8_t* b) {
    return vreinterpretq_s32_s8(vcombine_s8(vld1_s8(a), vld1_s8(b)));
  }
  // `even` and `odd`: four rows of four columns each, side by side in the matrix. sums[0]: rows 0 and 1 by both tokens;
  // sums[1]: rows 2 and 3.
  static void multiply_pairs(I (&sums)[2], I even, I odd, I x) {
    const int8x16_t input = vreinterpretq_s8_s32(x);
    sums[0] = vusmmlaq_s32(sums[0], vreinterpretq_u8_s32(vzip1q_s32(even, odd)), input);
    sums[1] = vusmmlaq_s32(sums[1], vreinterpretq_u8_s32(vzip2q_s32(even, odd)), input);
  }
  static void add_pairs(const I (&sums)[2], I& first, I& second) {
    first = vaddq_s32(first, vuzp1q_s32(sums[0], sums[1]));
    second = vaddq_s32(second, vuzp2q_s32(sums[0], sums[1]));
  }
};

}  // namespace
