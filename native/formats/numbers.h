// Small floating-point formats to fp32, exactly. Bytes in files are little-endian and may stand at any address.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace longhand {

static_assert(std::endian::native == std::endian::little, "model files are read in place: little-endian machines only");

template <class T>
T load(const void* from) {
  T result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

inline float f16_to_f32(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  const uint32_t fraction = half & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

inline float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Round to nearest, ties to even; NaN stays NaN.
inline uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

// E4M3 "fn": no infinities, 0x7F and 0xFF are NaN, largest 448.
inline float e4m3_to_f32(uint8_t bits) {
  const uint32_t exponent = (bits >> 3) & 15u;
  const uint32_t fraction = bits & 7u;
  if ((bits & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = exponent == 0 ? static_cast<float>(fraction) * 0x1p-9f
                                        : std::bit_cast<float>((exponent + 120) << 23 | fraction << 20);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

// E5M2 is the upper byte of an IEEE half.
inline float e5m2_to_f32(uint8_t bits) { return f16_to_f32(static_cast<uint16_t>(bits << 8)); }

// E8M0: a power of two; 255 is NaN.
inline float e8m0_to_f32(uint8_t bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
}

// E2M1, codes 0..15 (OCP microscaling formats).
inline constexpr float fp4_values[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                         -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

}  // namespace longhand
