// Weights to groups of integers as MLX stores them: w = scale * q + bias, q of `bits` bits in a little-endian stream,
// one scale and one bias a group of a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/weight.h"
#include "quantize/half.h"

namespace longhand {

enum class Rounding : uint8_t {
  nearest,   // mlx.core.quantize, bit for bit
  hqq,       // half-quadratic: the bias is moved so that few errors are large (Badri, Shaji 2023)
  weighted,  // ranges are searched for the smallest squared error, columns weighted by their importance
};

struct AffineFormat {
  int bits = 4;
  int group = 64;
  DType scale_type = DType::f32;  // f32, f16, bf16: that of the weights
  Rounding rounding = Rounding::nearest;
};

struct AffineTo {
  std::byte* codes;   // in * bits / 8 bytes a row
  std::byte* scales;  // in / group a row
  std::byte* biases;
};

// Squared rounding error and squared weights, summed over all weights with columns weighted by importance.
struct Loss {
  double error = 0;
  double energy = 0;
};

bool is_affine(int bits, int group);

inline constexpr int most_group = 128;

struct AffineGroup {
  float scale = 0, bias = 0;
  uint8_t codes[most_group] = {};
};

// The code of the nearest value; `bins`: the largest code.
inline uint8_t code_of(float value, float scale, float bias, float bins) {
  return static_cast<uint8_t>(rounded(std::min(std::max((value - bias) / scale, 0.0f), bins)));
}

// A group of `format.group` weights under the rounding of `format`; `importance` as below.
AffineGroup rounded_group(const float* w, const float* importance, const AffineFormat& format);

// Codes as a little-endian stream of `bits` bits each.
void pack_codes(const uint8_t* codes, int count, int bits, std::byte* to);

// One row of `in` values, a whole number of groups. `importance`: the mean square of what each column is multiplied
// with; null: all the same.
Loss quantise_affine(const float* row, int64_t in, const float* importance, const AffineFormat& format, AffineTo to);

}  // namespace longhand
