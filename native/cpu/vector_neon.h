// Four floats in a NEON register (arm64).
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

namespace {

struct Neon {
  using F = float32x4_t;
  static constexpr int width = 4;

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
  static F from_bf16(uint16x4_t x) { return vreinterpretq_f32_u32(vshll_n_u16(x, 16)); }
  static F load_bf16(const void* p) { return from_bf16(halves(p, 4)); }
  static F load_bf16_part(const void* p, int64_t n) { return from_bf16(halves(p, n)); }
  static F gather(const float* p, int64_t stride) {
    const float part[4] = {p[0], p[stride], p[2 * stride], p[3 * stride]};
    return vld1q_f32(part);
  }

  static F add(F a, F b) { return vaddq_f32(a, b); }
  static F sub(F a, F b) { return vsubq_f32(a, b); }
  static F mul(F a, F b) { return vmulq_f32(a, b); }
  static F div(F a, F b) { return vdivq_f32(a, b); }
  static F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }  // a b + c
  static F max(F a, F b) { return vmaxq_f32(a, b); }
  static F min(F a, F b) { return vminq_f32(a, b); }
  static float sum(F x) { return vaddvq_f32(x); }
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
