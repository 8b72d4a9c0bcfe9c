// Four floats in a NEON register (arm64).
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

namespace {

struct Neon {
  using F = float32x4_t;
  static constexpr int width = 4;
  static constexpr int registers = 32;
  static constexpr bool pairs = false;         // no product of two rows by two tokens
  static constexpr bool delta_blocks = false;  // not measured

  static F zero() { return vdupq_n_f32(0); }
  static F set(float x) { return vdupq_n_f32(x); }
  static F load(const float* p) { return vld1q_f32(p); }
  static F load_part(const float* p, int64_t n) {
    float part[4] = {};
    std::memcpy(part, p, static_cast<size_t>(n) * 4);
    return vld1q_f32(part);
  }
  static void store(float* p, F x) { vst1q_f32(p, x); }
  static void store_part(float* p, F x, int64_t n) {
    float part[4];
    vst1q_f32(part, x);
    std::memcpy(p, part, static_cast<size_t>(n) * 4);
  }
  static uint16x4_t halves(const void* p, int64_t n) {
    uint16_t part[4] = {};
    std::memcpy(part, p, static_cast<size_t>(n) * 2);
    return vld1_u16(part);
  }
  static F load_f16(const void* p) { return vcvt_f32_f16(vreinterpret_f16_u16(halves(p, 4))); }
  static F load_f16_part(const void* p, int64_t n) { return vcvt_f32_f16(vreinterpret_f16_u16(halves(p, n))); }
  static void store_f16(void* p, F x) {
    const uint16x4_t halves = vreinterpret_u16_f16(vcvt_f16_f32(x));
    std::memcpy(p, &halves, sizeof halves);
  }
  static F from_bf16(uint16x4_t x) { return vreinterpretq_f32_u32(vshll_n_u16(x, 16)); }
  static F load_bf16(const void* p) { return from_bf16(halves(p, 4)); }
  static F load_bf16_part(const void* p, int64_t n) { return from_bf16(halves(p, n)); }
  static F gather(const float* p, int64_t stride) {
    const float part[4] = {p[0], p[stride], p[2 * stride], p[3 * stride]};
    return vld1q_f32(part);
  }

  // parts[j][i] = p[4 i + j]
  static void load_fours(const float* p, F (&parts)[4]) {
    const float32x4x4_t all = vld4q_f32(p);
    for (int j = 0; j < 4; ++j) parts[j] = all.val[j];
  }

  using I = int32x4_t;  // four int32, each the sum of four products
  static I set_int(int32_t x) { return vdupq_n_s32(x); }
  static I plus(I a, I b) { return vaddq_s32(a, b); }
  static I joined(I high, I low) { return plus(vshlq_n_s32(high, 7), low); }  // 128 high + low
  static F to_float(I x) { return vcvtq_f32_s32(x); }
  static I load_quad(const uint8_t* p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }
  static I held(I x) { return x; }
  static I four(const int8_t* p) {
    int32_t bytes;
    std::memcpy(&bytes, p, 4);
    return vdupq_n_s32(bytes);
  }
  // Adds (code - bias) times x. sdot wants signed codes.
  static constexpr int bias(bool wide) { return wide ? 128 : 0; }
  static constexpr bool sums_of_16_bits = false;
  template <bool Wide>
  static I dot4(I sum, I codes, I x) {
    if constexpr (Wide) codes = veorq_s32(codes, vdupq_n_s32(static_cast<int32_t>(0x80808080u)));
    return vdotq_s32(sum, vreinterpretq_s8_s32(codes), vreinterpretq_s8_s32(x));
  }
  template <int J>
  static F byte(I codes) {
    return vcvtq_f32_u32(vandq_u32(vshlq_u32(vreinterpretq_u32_s32(codes), vdupq_n_s32(-8 * J)), vdupq_n_u32(255)));
  }
  static F load_s8(const int8_t* p) {
    const float part[4] = {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]),
                           static_cast<float>(p[3])};
    return vld1q_f32(part);
  }
  static F load_u8(const uint8_t* p) {
    const float part[4] = {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]),
                           static_cast<float>(p[3])};
    return vld1q_f32(part);
  }
  // Bytes of codes: shifts of bytes, and a mask a byte.
  template <int N>
  static I right(I x) {
    return vreinterpretq_s32_u8(vshlq_u8(vreinterpretq_u8_s32(x), vdupq_n_s8(-N)));
  }
  template <int N>
  static I left(I x) {
    return vreinterpretq_s32_u8(vshlq_u8(vreinterpretq_u8_s32(x), vdupq_n_s8(N)));
  }
  static I masked(I x, int mask) {
    return vreinterpretq_s32_u8(vandq_u8(vreinterpretq_u8_s32(x), vdupq_n_u8(static_cast<uint8_t>(mask))));
  }
  static I with_bits(I code, I x, int mask) { return vorrq_s32(code, masked(x, mask)); }  // code | (x & mask)
  static void store_quad(uint8_t* p, I x) { vst1q_u8(p, vreinterpretq_u8_s32(x)); }
  static I lookup(I codes, const uint8_t* table) {
    return vreinterpretq_s32_u8(vqtbl1q_u8(vld1q_u8(table), vreinterpretq_u8_s32(codes)));
  }
  static F abs(F x) { return vabsq_f32(x); }
  // Rounds to the nearest integers and stores them as two signed bytes each, 128 high + low; their sum.
  static int32_t store_rounded(int8_t* high, int8_t* low, F x) {
    const int32x4_t n = vcvtnq_s32_f32(x), upper = vshrq_n_s32(vaddq_s32(n, vdupq_n_s32(64)), 7);
    for (int i = 0; i < 4; ++i) {
      high[i] = static_cast<int8_t>(upper[i]);
      low[i] = static_cast<int8_t>(n[i] - 128 * upper[i]);
    }
    return vaddvq_s32(n);
  }

  static F add(F a, F b) { return vaddq_f32(a, b); }
  static F sub(F a, F b) { return vsubq_f32(a, b); }
  static F mul(F a, F b) { return vmulq_f32(a, b); }
  static F div(F a, F b) { return vdivq_f32(a, b); }
  static F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }  // a b + c
  static F fused(F a, F b, F c) { return fma(a, b, c); }      // a b + c with one rounding, by definition
  static F max(F a, F b) { return vmaxq_f32(a, b); }
  static F min(F a, F b) { return vminq_f32(a, b); }
  static float sum(F x) { return vaddvq_f32(x); }
  // The sums of four vectors side by side, each with the bits of sum().
  static void store_sums(float* to, F a, F b, F c, F d) {
    vst1q_f32(to, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
  }
  static float largest(F x) { return vmaxvq_f32(x); }
  // x 2^n, n = round(rounded - 1.5 2^23) as left in the low bits of `rounded`
  static F scale_by_bits(F x, F rounded) {
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), vshlq_n_s32(vreinterpretq_s32_f32(rounded), 23)));
  }
  // x where a >= b, else 0
  static F where_at_least(F a, F b, F x) {
    return vreinterpretq_f32_u32(vandq_u32(vcgeq_f32(a, b), vreinterpretq_u32_f32(x)));
  }
};

}  // namespace
