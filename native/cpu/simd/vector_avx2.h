// Eight floats in an AVX2 register. Included by files compiled for AVX2, FMA and F16C only.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace {

struct Avx2 {
  using F = __m256;
  static constexpr int width = 8;
  static constexpr int registers = 16;
  static constexpr bool pairs = false;         // no product of two rows by two tokens
  static constexpr bool delta_blocks = false;  // not faster in 16 registers

  static F zero() { return _mm256_setzero_ps(); }
  static F set(float x) { return _mm256_set1_ps(x); }
  static F load(const float* p) { return _mm256_loadu_ps(p); }
  static __m256i mask(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static F load_part(const float* p, int64_t n) { return _mm256_maskload_ps(p, mask(n)); }
  static void store(float* p, F x) { _mm256_storeu_ps(p, x); }
  static void store_part(float* p, F x, int64_t n) { _mm256_maskstore_ps(p, mask(n), x); }
  static __m128i halves(const void* p, int64_t n) {
    alignas(16) uint16_t part[8] = {};
    std::memcpy(part, p, static_cast<size_t>(n) * 2);
    return _mm_load_si128(reinterpret_cast<const __m128i*>(part));
  }
  static F load_f16(const void* p) { return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p))); }
  static F load_f16_part(const void* p, int64_t n) { return _mm256_cvtph_ps(halves(p, n)); }
  static void store_f16(void* p, F x) {
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  static F from_bf16(__m128i x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)); }
  static F load_bf16(const void* p) { return from_bf16(_mm_loadu_si128(static_cast<const __m128i*>(p))); }
  static F load_bf16_part(const void* p, int64_t n) { return from_bf16(halves(p, n)); }
  static F gather(const float* p, int64_t stride) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_i32gather_ps(p, _mm256_mullo_epi32(lane, _mm256_set1_epi32(static_cast<int>(stride))), 4);
  }

  // parts[j][i] = p[4 i + j]
  static void load_fours(const float* p, F (&parts)[4]) {
    const auto rows = [&](int64_t i) {  // rows i and i + 4
      return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 4 * i)), _mm_loadu_ps(p + 4 * i + 16), 1);
    };
    const F a = rows(0), b = rows(1), c = rows(2), d = rows(3);
    const F ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const F ab_high = _mm256_unpackhi_ps(a, b), cd_high = _mm256_unpackhi_ps(c, d);
    parts[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    parts[1] = _mm256_shuffle_ps(ab, cd, 0xee);
    parts[2] = _mm256_shuffle_ps(ab_high, cd_high, 0x44);
    parts[3] = _mm256_shuffle_ps(ab_high, cd_high, 0xee);
  }

  using I = __m256i;  // eight int32, each the sum of four products
  static I set_int(int32_t x) { return _mm256_set1_epi32(x); }
  static I plus(I a, I b) { return _mm256_add_epi32(a, b); }
  static I joined(I high, I low) { return plus(_mm256_slli_epi32(high, 7), low); }  // 128 high + low
  static F to_float(I x) { return _mm256_cvtepi32_ps(x); }
  static I load_quad(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static I held(I x) { return x; }
  static I four(const int8_t* p) {
    int32_t bytes;
    std::memcpy(&bytes, p, 4);
    return _mm256_set1_epi32(bytes);
  }
#if defined(__AVXVNNI__)
  // Adds (code - bias) times x; `wide` codes may exceed 127.
  static constexpr int bias(bool) { return 0; }
  static constexpr bool sums_of_16_bits = false;
  template <bool>
  static I dot4(I sum, I codes, I x) {
    return _mm256_dpbusd_avx_epi32(sum, codes, x);
  }
#else
  // GCC would keep all products, more than there are registers for, and add them up as a tree.
  static I in_turn(I sum) {
    asm("" : "+x"(sum));
    return sum;
  }
  // Pairs of products are added with 16-bit saturation: codes up to 127 fit; wider ones are made signed first, and
  // their sign moves to x.
  static constexpr int bias(bool wide) { return wide ? 128 : 0; }
  template <bool Wide>
  static I dot4(I sum, I codes, I x) {
    if constexpr (Wide) {
      const I with_sign = _mm256_xor_si256(codes, _mm256_set1_epi8(-128));
      codes = _mm256_abs_epi8(with_sign);
      x = _mm256_sign_epi8(x, with_sign);
    }
    return in_turn(_mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(codes, x), _mm256_set1_epi16(1))));
  }
  // Codes of up to six bits times x, two columns a sum of 16 bits, which has room for more of them (vector_quads.h).
  static constexpr bool sums_of_16_bits = true;
  static I dot2(I codes, I x) { return _mm256_maddubs_epi16(codes, x); }
  static I plus_16_bits(I a, I b) { return in_turn(_mm256_add_epi16(a, b)); }
  static I pairs_of_16_bits(I sums) { return _mm256_madd_epi16(sums, _mm256_set1_epi16(1)); }
#endif
  template <int J>
  static F byte(I quad) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(quad, 8 * J), _mm256_set1_epi32(255)));
  }
  static F load_s8(const int8_t* p) {
    return to_float(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static F load_u8(const uint8_t* p) {
    return to_float(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  // Bytes of codes: 16-bit shifts, and a mask a byte.
  template <int N>
  static I right(I x) {
    return _mm256_srli_epi16(x, N);
  }
  template <int N>
  static I left(I x) {
    return _mm256_slli_epi16(x, N);
  }
  static I masked(I x, int mask) { return _mm256_and_si256(x, _mm256_set1_epi8(static_cast<char>(mask))); }
  static I with_bits(I code, I x, int mask) { return _mm256_or_si256(code, masked(x, mask)); }  // code | (x & mask)
  static void store_quad(uint8_t* p, I x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
  static I lookup(I codes, const uint8_t* table) {
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))),
                               codes);
  }
  static F abs(F x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
  // Rounds to the nearest integers and stores them as two signed bytes each, 128 high + low; their sum.
  static int32_t store_rounded(int8_t* high, int8_t* low, F x) {
    const __m256i n = _mm256_cvtps_epi32(x);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
    const __m128i upper = _mm_srai_epi16(_mm_add_epi16(words, _mm_set1_epi16(64)), 7);
    const __m128i lower = _mm_sub_epi16(words, _mm_slli_epi16(upper, 7));
    const __m128i bytes = _mm_packs_epi16(upper, lower);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(high), bytes);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(low), _mm_unpackhi_epi64(bytes, bytes));
    sum = _mm_hadd_epi32(sum, sum);
    return _mm_cvtsi128_si32(_mm_hadd_epi32(sum, sum));
  }

  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F div(F a, F b) { return _mm256_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }  // a b + c
  static F fused(F a, F b, F c) { return fma(a, b, c); }            // a b + c with one rounding, by definition
  static F max(F a, F b) { return _mm256_max_ps(a, b); }
  static F min(F a, F b) { return _mm256_min_ps(a, b); }
  static float sum(F x) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  // The sums of four vectors side by side, each with the bits of sum().
  static void store_sums(float* to, F a, F b, F c, F d) {
    const auto half = [](F x) { return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)); };
    const auto pairs = [](__m128 x, __m128 y) { return _mm_add_ps(_mm_movelh_ps(x, y), _mm_shuffle_ps(x, y, 0xee)); };
    const __m128 ab = pairs(half(a), half(b)), cd = pairs(half(c), half(d));
    _mm_storeu_ps(to, _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xdd)));
  }
  static float largest(F x) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
  }
  // x 2^n, n = round(rounded - 1.5 2^23) as left in the low bits of `rounded`
  static F scale_by_bits(F x, F rounded) {
    return _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(_mm256_castps_si256(rounded), 23)));
  }
  // x where a >= b, else 0
  static F where_at_least(F a, F b, F x) { return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ), x); }
};

}  // namespace
