// Products of pairs of bf16 by the rows of a tile: a vector holds one number of sixteen rows, so that no sum goes
// across a vector and the other operand is read one pair at a time. Included by files compiled for AVX512-BF16 only.
#pragma once

#include "cpu/simd/rounded_softmax.h"

namespace {

inline __m512bh load_pairs(const uint32_t* p) { return (__m512bh)_mm512_loadu_si512(p); }
inline __m512bh same_pair(const void* p) {
  int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return (__m512bh)_mm512_set1_epi32(pair);
}

// C [K][rounded_rows] = start(k, g) + A [K] B [pairs][rounded_rows], given to finish(k, g, sum); pair i of row k of A
// is at a(k, i). With K = 8 sixteen sums hide the latency, and ten loads serve sixteen products: 196 of at most 233
// GFLOP a second and core on Zen 4, where fp32 reached 88 (test/bench/LEDGER.md).
template <int K, class A, class Start, class Finish>
inline void multiply_pairs_by_rows(const A& a, const uint32_t* b, int64_t pairs, const Start& start,
                                   const Finish& finish) {
  Rows sum[K];
  for (int k = 0; k < K; ++k)
    for (int g = 0; g < groups; ++g) sum[k][g] = start(k, g);
  for (int64_t i = 0; i < pairs; ++i) {
    __m512bh rows[groups];
    for (int g = 0; g < groups; ++g) rows[g] = load_pairs(b + i * rounded_rows + g * lanes);
    for (int k = 0; k < K; ++k) {
      const __m512bh pair = same_pair(a(k, i));
      for (int g = 0; g < groups; ++g) sum[k][g] = _mm512_dpbf16_ps(sum[k][g], pair, rows[g]);
    }
  }
  for (int k = 0; k < K; ++k)
    for (int g = 0; g < groups; ++g) finish(k, g, sum[k][g]);
}

// What causal_attention.h wants.
struct PairProducts {
  static void begin() {}
  static void end() {}

  static void multiply(const uint16_t* a, int64_t a_stride, const uint32_t* b, int64_t depth, float* c, bool adds) {
    constexpr int together = 8;
    for (int64_t k = 0; k < 32; k += together, a += together * a_stride, c += together * rounded_rows) {
      const auto of = [&](int row, int64_t pair) { return a + row * a_stride + 2 * pair; };
      const auto finish = [&](int row, int g, __m512 sum) {
        _mm512_storeu_ps(c + row * rounded_rows + g * lanes, sum);
      };
      if (adds)
        multiply_pairs_by_rows<together>(
            of, b, depth / 2, [&](int row, int g) { return _mm512_loadu_ps(c + row * rounded_rows + g * lanes); },
            finish);
      else multiply_pairs_by_rows<together>(of, b, depth / 2, [](int, int) { return _mm512_setzero_ps(); }, finish);
    }
  }
};

}  // namespace
