// Sixteen floats in an AVX-512 register. Included by one file only, which is compiled for this instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace {

struct Avx512 {
  using F = __m512;
  static constexpr int width = 16;
  static constexpr int registers = 32;
  static constexpr bool pairs = false;        // no product of two rows by two tokens
  static constexpr bool delta_blocks = true;  // the delta rule in blocks of tokens is faster
  static __mmask16 mask(int64_t n) { return static_cast<__mmask16>((1u << n) - 1u); }

  static F zero() { return _mm512_setzero_ps(); }
  static F set(float x) { return _mm512_set1_ps(x); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static F load_part(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(mask(n), p); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static void store_part(float* p, F x, int64_t n) { _mm512_mask_storeu_ps(p, mask(n), x); }
  static F load_f16(const void* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
  static F load_f16_part(const void* p, int64_t n) { return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask(n), p)); }
  static void store_f16(void* p, F x) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  static F from_bf16(__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); }
  static F load_bf16(const void* p) { return from_bf16(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
  static F load_bf16_part(const void* p, int64_t n) { return from_bf16(_mm256_maskz_loadu_epi16(mask(n), p)); }
  static F gather(const float* p, int64_t stride) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_i32gather_ps(_mm512_mullo_epi32(lane, _mm512_set1_epi32(static_cast<int>(stride))), p, 4);
  }

  // parts[j][i] = p[4 i + j]
  static void load_fours(const float* p, F (&parts)[4]) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const F a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);
    const F low = _mm512_permutex2var_ps(a, even, b), high = _mm512_permutex2var_ps(c, even, d);
    const F low_odd = _mm512_permutex2var_ps(a, odd, b), high_odd = _mm512_permutex2var_ps(c, odd, d);
    parts[0] = _mm512_permutex2var_ps(low, even, high);
    parts[1] = _mm512_permutex2var_ps(low_odd, even, high_odd);
    parts[2] = _mm512_permutex2var_ps(low, odd, high);
    parts[3] = _mm512_permutex2var_ps(low_odd, odd, high_odd);
  }

  using I = __m512i;  // sixteen int32, each the sum of four products
  static I set_int(int32_t x) { return _mm512_set1_epi32(x); }
  static I plus(I a, I b) { return _mm512_add_epi32(a, b); }
  static I joined(I high, I low) { return plus(_mm512_slli_epi32(high, 7), low); }  // 128 high + low
  static F to_float(I x) { return _mm512_cvtepi32_ps(x); }
  static I load_quad(const uint8_t* p) { return _mm512_loadu_si512(p); }
  // In a register: GCC would read codes from memory again for every row of x.
  static I held(I x) {
    asm("" : "+v"(x));
    return x;
  }
  static I four(const int8_t* p) {
    int32_t bytes;
    __builtin_memcpy(&bytes, p, 4);
    return _mm512_set1_epi32(bytes);
  }
  static I set_bytes(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
  static I minus_bytes(I a, I b) { return _mm512_sub_epi8(a, b); }
  static I minus(I a, I b) { return _mm512_sub_epi32(a, b); }
  static I dot4_signed(I sum, I x, I codes) { return _mm512_dpbusd_epi32(sum, x, codes); }  // x unsigned, codes signed
  // Adds (code - bias) times x; `wide` codes may exceed 127.
  static constexpr int bias(bool) { return 0; }
  static constexpr bool sums_of_16_bits = false;
  template <bool>
  static I dot4(I sum, I codes, I x) {
    return _mm512_dpbusd_epi32(sum, codes, x);
  }
  template <int J>
  static F byte(I quad) {
    return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(quad, 8 * J), _mm512_set1_epi32(255)));
  }
  static F load_s8(const int8_t* p) {
    return to_float(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static F load_u8(const uint8_t* p) {
    return to_float(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  // Bytes of codes: 16-bit shifts, and a mask a byte.
  template <int N>
  static I right(I x) {
    return _mm512_srli_epi16(x, N);
  }
  template <int N>
  static I left(I x) {
    return _mm512_slli_epi16(x, N);
  }
  static I masked(I x, int mask) { return _mm512_and_si512(x, _mm512_set1_epi8(static_cast<char>(mask))); }
  // code | (x & mask)
  static I with_bits(I code, I x, int mask) {
    return _mm512_ternarylogic_epi32(code, x, _mm512_set1_epi8(static_cast<char>(mask)), 0xf8);
  }
  static void store_quad(uint8_t* p, I x) { _mm512_storeu_si512(p, x); }
  static I lookup(I codes, const uint8_t* table) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), codes);
  }
  static F abs(F x) { return _mm512_abs_ps(x); }
  // Rounds to the nearest integers and stores them as two signed bytes each, 128 high + low; their sum.
  static int32_t store_rounded(int8_t* high, int8_t* low, F x) {
    const __m512i n = _mm512_cvtps_epi32(x);
    const __m512i upper = _mm512_srai_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(64)), 7);
    const __m512i lower = _mm512_sub_epi32(n, _mm512_slli_epi32(upper, 7));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(high), _mm512_cvtepi32_epi8(upper));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(low), _mm512_cvtepi32_epi8(lower));
    return _mm512_reduce_add_epi32(n);
  }

  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }  // a b + c
  static F fused(F a, F b, F c) { return fma(a, b, c); }            // a b + c with one rounding, by definition
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static float sum(F x) { return _mm512_reduce_add_ps(x); }
  // The sums of four vectors side by side, each with the bits of sum().
  static void store_sums(float* to, F a, F b, F c, F d) {
    const auto halves = [](F x, F y) {
      return add(_mm512_shuffle_f32x4(x, y, 0x44), _mm512_shuffle_f32x4(x, y, 0xee));
    };
    const F ab = halves(a, b), cd = halves(c, d);
    F x = add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    x = add(x, _mm512_permute_ps(x, 0x4e));
    store_quarters(to, add(x, _mm512_permute_ps(x, 0xb1)));
  }
  static float largest(F x) { return _mm512_reduce_max_ps(x); }
  // The largest of each of four vectors: quarter i of the result, in all its lanes, is that of vector i.
  static F largest_of_four(F a, F b, F c, F d) {
    const auto halves = [](F x, F y) {
      return max(_mm512_shuffle_f32x4(x, y, 0x44), _mm512_shuffle_f32x4(x, y, 0xee));
    };
    const F ab = halves(a, b), cd = halves(c, d);
    F x = max(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    x = max(x, _mm512_permute_ps(x, 0x4e));
    return max(x, _mm512_permute_ps(x, 0xb1));
  }
  template <int I>
  static F quarter(F x) {
    return _mm512_shuffle_f32x4(x, x, I * 0x55);
  }
  static void store_quarters(void* to, F x) {
    const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm_storeu_ps(static_cast<float*>(to), _mm512_castps512_ps128(_mm512_permutexvar_ps(first, x)));
  }
  // The sums of four times sixteen codes 128 high + low.
  static void store_code_sums(int32_t* to, const int8_t* high, const int8_t* low) {
    const I ones = _mm512_set1_epi8(1), none = _mm512_setzero_si512();
    const I upper = _mm512_dpbusd_epi32(none, ones, _mm512_loadu_si512(high));
    I sum = _mm512_dpbusd_epi32(_mm512_slli_epi32(upper, 7), ones, _mm512_loadu_si512(low));
    sum = plus(sum, _mm512_shuffle_epi32(sum, _MM_PERM_BADC));
    sum = plus(sum, _mm512_shuffle_epi32(sum, _MM_PERM_CDAB));
    store_quarters(to, _mm512_castsi512_ps(sum));
  }
  // x 2^n, n = round(rounded - 1.5 2^23) as left in the low bits of `rounded`
  static F scale_by_bits(F x, F rounded) {
    return _mm512_castsi512_ps(
        _mm512_add_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(_mm512_castps_si512(rounded), 23)));
  }
  // x where a >= b, else 0
  static F where_at_least(F a, F b, F x) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ), x); }
};

}  // namespace
