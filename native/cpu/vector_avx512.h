// Sixteen floats in an AVX-512 register. Included by one file only, which is compiled for this instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace {

struct Avx512 {
  using F = __m512;
  static constexpr int width = 16;
  static __mmask16 mask(int64_t n) { return static_cast<__mmask16>((1u << n) - 1u); }

  static F zero() { return _mm512_setzero_ps(); }
  static F set(float x) { return _mm512_set1_ps(x); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static F load_part(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(mask(n), p); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static void store_part(float* p, F x, int64_t n) { _mm512_mask_storeu_ps(p, mask(n), x); }
  static F load_f16(const void* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
  static F load_f16_part(const void* p, int64_t n) { return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask(n), p)); }
  static F from_bf16(__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); }
  static F load_bf16(const void* p) { return from_bf16(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
  static F load_bf16_part(const void* p, int64_t n) { return from_bf16(_mm256_maskz_loadu_epi16(mask(n), p)); }
  static F gather(const float* p, int64_t stride) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_i32gather_ps(_mm512_mullo_epi32(lane, _mm512_set1_epi32(static_cast<int>(stride))), p, 4);
  }

  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }  // a b + c
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static float sum(F x) { return _mm512_reduce_add_ps(x); }
  static float largest(F x) { return _mm512_reduce_max_ps(x); }
  // x 2^n, n = round(rounded - 1.5 2^23) as left in the low bits of `rounded`
  static F scale_by_bits(F x, F rounded) {
    return _mm512_castsi512_ps(
        _mm512_add_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(_mm512_castps_si512(rounded), 23)));
  }
  // x where a >= b, else 0
  static F where_at_least(F a, F b, F x) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ), x); }
};

}  // namespace
