// Four floats in an SSE register, for x86-64 processors without AVX2. Included by one file only, which is compiled for
// SSE4.2. There is no fused multiply-add: where its single rounding is part of a definition (`fused`) it is computed in
// fp64.
#pragma once

#include <nmmintrin.h>

#include <cstdint>
#include <cstring>

namespace {

struct Sse42 {
  using F = __m128;
  static constexpr int width = 4;
  static constexpr int registers = 16;
  static constexpr bool pairs = false;         // no product of two rows by two tokens
  static constexpr bool delta_blocks = false;  // not faster in 16 registers

  static F zero() { return _mm_setzero_ps(); }
  static F set(float x) { return _mm_set1_ps(x); }
  static F load(const float* p) { return _mm_loadu_ps(p); }
  static F load_part(const float* p, int64_t n) {
    alignas(16) float part[4] = {};
    std::memcpy(part, p, static_cast<size_t>(n) * 4);
    return _mm_load_ps(part);
  }
  static void store(float* p, F x) { _mm_storeu_ps(p, x); }
  static void store_part(float* p, F x, int64_t n) {
    alignas(16) float part[4];
    _mm_store_ps(part, x);
    std::memcpy(p, part, static_cast<size_t>(n) * 4);
  }
  static __m128i halves(const void* p, int64_t n) {
    alignas(16) uint16_t part[8] = {};
    std::memcpy(part, p, static_cast<size_t>(n) * 2);
    return _mm_load_si128(reinterpret_cast<const __m128i*>(part));
  }
  // As from_f16 of floats.h.
  static F from_f16(__m128i x) {
    const __m128i half = _mm_cvtepu16_epi32(x), exponent = _mm_set1_epi32(0x7c00);
    const __m128i sign = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x8000)), 16);
    const __m128i magnitude = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x7fff)), 13);
    const __m128i scaled = _mm_castps_si128(_mm_mul_ps(_mm_castsi128_ps(magnitude), _mm_set1_ps(0x1p112f)));
    const __m128i special = _mm_or_si128(magnitude, _mm_set1_epi32(0x7f800000));
    const __m128i is_special = _mm_cmpeq_epi32(_mm_and_si128(half, exponent), exponent);
    return _mm_castsi128_ps(_mm_or_si128(_mm_blendv_epi8(scaled, special, is_special), sign));
  }
  static F load_f16(const void* p) { return from_f16(_mm_loadl_epi64(static_cast<const __m128i*>(p))); }
  static F load_f16_part(const void* p, int64_t n) { return from_f16(halves(p, n)); }
  // As to_f16 of floats.h.
  static void store_f16(void* p, F x) {
    const __m128i bits = _mm_castps_si128(x), magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
    const __m128i odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
    const __m128i moved = _mm_sub_epi32(magnitude, _mm_set1_epi32(0x38000000 - 0xfff));
    const __m128i normal = _mm_srli_epi32(_mm_add_epi32(moved, odd), 13);
    const __m128i shifted = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(magnitude), _mm_set1_ps(0.5f)));
    const __m128i subnormal = _mm_sub_epi32(shifted, _mm_set1_epi32(0x3f000000));
    const auto above = [&](int limit) { return _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(limit)); };
    __m128i half = _mm_blendv_epi8(subnormal, normal, above(0x387fffff));
    half = _mm_blendv_epi8(half, _mm_set1_epi32(0x7c00), above(0x477fefff));
    half = _mm_blendv_epi8(half, _mm_set1_epi32(0x7e00), above(0x7f800000));
    half = _mm_or_si128(half, _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x8000)));
    _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packus_epi32(half, half));
  }
  static F from_bf16(__m128i x) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(x), 16)); }
  static F load_bf16(const void* p) { return from_bf16(_mm_loadl_epi64(static_cast<const __m128i*>(p))); }
  static F load_bf16_part(const void* p, int64_t n) { return from_bf16(halves(p, n)); }
  static F gather(const float* p, int64_t stride) { return _mm_setr_ps(p[0], p[stride], p[2 * stride], p[3 * stride]); }

  // parts[j][i] = p[4 i + j]
  static void load_fours(const float* p, F (&parts)[4]) {
    for (int j = 0; j < 4; ++j) parts[j] = load(p + 4 * j);
    _MM_TRANSPOSE4_PS(parts[0], parts[1], parts[2], parts[3]);
  }

  using I = __m128i;  // four int32, each the sum of four products
  static I set_int(int32_t x) { return _mm_set1_epi32(x); }
  static I plus(I a, I b) { return _mm_add_epi32(a, b); }
  static I joined(I high, I low) { return plus(_mm_slli_epi32(high, 7), low); }  // 128 high + low
  static F to_float(I x) { return _mm_cvtepi32_ps(x); }
  static I load_quad(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static I held(I x) { return x; }
  static I four(const int8_t* p) {
    int32_t bytes;
    std::memcpy(&bytes, p, 4);
    return _mm_set1_epi32(bytes);
  }
  // GCC would keep all products, more than there are registers for, and add them up as a tree.
  static I in_turn(I sum) {
    asm("" : "+x"(sum));
    return sum;
  }
  // Adds (code - bias) times x. Pairs of products are added with 16-bit saturation: codes up to 127 fit; wider ones are
  // made signed first, and their sign moves to x.
  static constexpr int bias(bool wide) { return wide ? 128 : 0; }
  template <bool Wide>
  static I dot4(I sum, I codes, I x) {
    if constexpr (Wide) {
      const I with_sign = _mm_xor_si128(codes, _mm_set1_epi8(-128));
      codes = _mm_abs_epi8(with_sign);
      x = _mm_sign_epi8(x, with_sign);
    }
    return in_turn(_mm_add_epi32(sum, _mm_madd_epi16(_mm_maddubs_epi16(codes, x), _mm_set1_epi16(1))));
  }
  // Codes of up to six bits times x, two columns a sum of 16 bits, which has room for more of them (vector_quads.h).
  static constexpr bool sums_of_16_bits = true;
  static I dot2(I codes, I x) { return _mm_maddubs_epi16(codes, x); }
  static I plus_16_bits(I a, I b) { return in_turn(_mm_add_epi16(a, b)); }
  static I pairs_of_16_bits(I sums) { return _mm_madd_epi16(sums, _mm_set1_epi16(1)); }
  template <int J>
  static F byte(I codes) {
    return _mm_cvtepi32_ps(_mm_and_si128(_mm_srli_epi32(codes, 8 * J), _mm_set1_epi32(255)));
  }
  static F load_s8(const int8_t* p) { return to_float(_mm_cvtepi8_epi32(four(p))); }
  static F load_u8(const uint8_t* p) { return to_float(_mm_cvtepu8_epi32(four(reinterpret_cast<const int8_t*>(p)))); }
  // Bytes of codes: 16-bit shifts, and a mask a byte.
  template <int N>
  static I right(I x) {
    return _mm_srli_epi16(x, N);
  }
  template <int N>
  static I left(I x) {
    return _mm_slli_epi16(x, N);
  }
  static I masked(I x, int mask) { return _mm_and_si128(x, _mm_set1_epi8(static_cast<char>(mask))); }
  static I with_bits(I code, I x, int mask) { return _mm_or_si128(code, masked(x, mask)); }  // code | (x & mask)
  static void store_quad(uint8_t* p, I x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x); }
  static I lookup(I codes, const uint8_t* table) {
    return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)), codes);
  }
  static F abs(F x) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), x); }
  // Rounds to the nearest integers and stores them as two signed bytes each, 128 high + low; their sum.
  static int32_t store_rounded(int8_t* high, int8_t* low, F x) {
    const __m128i n = _mm_cvtps_epi32(x), words = _mm_packs_epi32(n, n);
    const __m128i upper = _mm_srai_epi16(_mm_add_epi16(words, _mm_set1_epi16(64)), 7);
    const __m128i lower = _mm_sub_epi16(words, _mm_slli_epi16(upper, 7));
    const __m128i bytes = _mm_packs_epi16(upper, lower);
    std::memcpy(high, &bytes, 4);
    const int32_t low_bytes = _mm_extract_epi32(bytes, 2);
    std::memcpy(low, &low_bytes, 4);
    const __m128i pairs = _mm_hadd_epi32(n, n);
    return _mm_cvtsi128_si32(_mm_hadd_epi32(pairs, pairs));
  }

  static F add(F a, F b) { return _mm_add_ps(a, b); }
  static F sub(F a, F b) { return _mm_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm_mul_ps(a, b); }
  static F div(F a, F b) { return _mm_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }  // a b + c, two roundings
  // a b + c with one rounding. The product of two fp32 is exact in fp64, the sum is not: its last bit is made odd when
  // something was cut off (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008), so that rounding
  // to fp32 falls on the right side.
  static __m128d odd_sum(__m128d a, __m128d b) {
    const __m128d sum = _mm_add_pd(a, b), b_part = _mm_sub_pd(sum, a);
    const __m128d error = _mm_add_pd(_mm_sub_pd(a, _mm_sub_pd(sum, b_part)), _mm_sub_pd(b, b_part));
    const __m128i bits = _mm_castpd_si128(sum), one = _mm_set1_epi64x(1);
    const __m128d zero_pd = _mm_setzero_pd();  // an infinite sum has no error that compares
    const __m128i inexact = _mm_castpd_si128(_mm_or_pd(_mm_cmplt_pd(error, zero_pd), _mm_cmpgt_pd(error, zero_pd)));
    const __m128i is_odd = _mm_cmpeq_epi64(_mm_and_si128(bits, one), one);
    // Towards the error: one unit away from zero where both have the same sign, else one towards it.
    const __m128i opposite = _mm_xor_si128(bits, _mm_castpd_si128(error));
    const __m128i step = _mm_or_si128(_mm_cmpgt_epi64(_mm_setzero_si128(), opposite), one);  // -1 or 1
    return _mm_castsi128_pd(_mm_add_epi64(bits, _mm_and_si128(_mm_andnot_si128(is_odd, inexact), step)));
  }
  static F fused(F a, F b, F c) {
    const auto half = [](F x, F y, F z) {
      return _mm_cvtpd_ps(odd_sum(_mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), _mm_cvtps_pd(z)));
    };
    return _mm_movelh_ps(half(a, b, c), half(_mm_movehl_ps(a, a), _mm_movehl_ps(b, b), _mm_movehl_ps(c, c)));
  }
  static F max(F a, F b) { return _mm_max_ps(a, b); }
  static F min(F a, F b) { return _mm_min_ps(a, b); }
  static float sum(F x) {
    const F pairs = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(pairs, _mm_movehdup_ps(pairs)));
  }
  // The sums of four vectors side by side, each with the bits of sum().
  static void store_sums(float* to, F a, F b, F c, F d) {
    const auto pairs = [](F x, F y) { return add(_mm_movelh_ps(x, y), _mm_shuffle_ps(x, y, 0xee)); };
    const F ab = pairs(a, b), cd = pairs(c, d);
    _mm_storeu_ps(to, add(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xdd)));
  }
  static float largest(F x) {
    const F pairs = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(pairs, _mm_movehdup_ps(pairs)));
  }
  // x 2^n, n = round(rounded - 1.5 2^23) as left in the low bits of `rounded`
  static F scale_by_bits(F x, F rounded) {
    return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(x), _mm_slli_epi32(_mm_castps_si128(rounded), 23)));
  }
  // x where a >= b, else 0
  static F where_at_least(F a, F b, F x) { return _mm_and_ps(_mm_cmpge_ps(a, b), x); }
};

}  // namespace
