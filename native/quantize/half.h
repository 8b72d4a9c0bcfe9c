// fp32 to the small formats that are stored, to nearest, ties to even.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/numbers.h"
#include "ops/weight.h"

namespace longhand {

// To nearest, ties to even, for magnitudes below 2^22: what the addition has no room for is rounded away. std::rint is
// a call where the instruction set of the build is old, and loops over it are not vectorised.
inline float rounded(float value) { return (value + 12582912.0f) - 12582912.0f; }

inline uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7E00u);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7C00u);
  // Below 2^-14 the steps are all 2^-24: rounding the multiple is rounding the number.
  if (magnitude < 0x1p-14f) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::rint(magnitude * 0x1p24f)));
  const uint32_t positive = bits & 0x7FFFFFFFu;
  const uint32_t rounded = positive + 0xFFFu + (positive >> 13 & 1u);
  return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

inline float rounded_to(DType type, float value) {
  if (type == DType::f16) return f16_to_f32(f32_to_f16(value));
  if (type == DType::bf16) return bf16_to_f32(f32_to_bf16(value));
  return value;
}

inline void store_as(DType type, float value, std::byte* to) {
  if (type == DType::f32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const uint16_t bits = type == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
  std::memcpy(to, &bits, sizeof bits);
}

}  // namespace longhand
