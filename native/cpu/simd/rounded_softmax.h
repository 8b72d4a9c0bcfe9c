// The softmax of attention in bf16: a vector holds one key's numbers of sixteen rows, so nothing goes across a vector.
// Included by files compiled for AVX512-BF16 only.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "cpu/kernels/kernels.h"

namespace {

using longhand::cpu::rounded_rows;
constexpr int64_t lanes = 16;
constexpr int groups = rounded_rows / lanes;
using Rows = __m512[groups];  // one number of each row

// 2^x, x <= 0: the arithmetic of attention/rounded.cc.
inline __m512 power_of_two(__m512 x) {
  const __m512 fraction = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF);
  __m512 p = _mm512_fmadd_ps(fraction, _mm512_set1_ps(0.0770670399f), _mm512_set1_ps(0.227644995f));
  p = _mm512_fmadd_ps(p, fraction, _mm512_set1_ps(0.695116758f));
  p = _mm512_fmadd_ps(p, fraction, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, x);
}

// Scores of an even number of keys become weights, rounded and in pairs of keys; adds them to `total`.
inline void weigh(const float* scores, int64_t count, const Rows& peak, uint32_t* weights, Rows& total) {
  const __m512i beside = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                          21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512bh ones = (__m512bh)_mm512_set1_epi16(0x3f80);
  for (int64_t j = 0; j < count; j += 2) {
    for (int g = 0; g < groups; ++g) {
      const float* at = scores + j * rounded_rows + g * lanes;
      const __m512 first = power_of_two(_mm512_sub_ps(_mm512_load_ps(at), peak[g]));
      const __m512 second = power_of_two(_mm512_sub_ps(_mm512_load_ps(at + rounded_rows), peak[g]));
      const __m512i pairs = _mm512_permutexvar_epi16(beside, (__m512i)_mm512_cvtne2ps_pbh(second, first));
      total[g] = _mm512_dpbf16_ps(total[g], (__m512bh)pairs, ones);
      _mm512_store_si512(weights + j / 2 * rounded_rows + g * lanes, pairs);
    }
  }
}

}  // namespace
