// Bit layouts of the block formats as they stand in GGUF files, and the sizes of every element type. All structs have
// alignment 1: a block is read where it lies in the mapping. `d`, `m`, `dmin` are IEEE halves.
// (ggml, ggml-common.h; the values are proven by test/golden/quant.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "formats/numbers.h"
#include "ops/weight.h"

namespace longhand {

struct Half {
  uint8_t bytes[2];
  float value() const { return f16_to_f32(load<uint16_t>(bytes)); }
};

// 32 elements. Low nibbles are elements 0..15, high nibbles 16..31.
struct BlockQ4_0 {  // d (q - 8)
  Half d;
  uint8_t qs[16];
};
struct BlockQ4_1 {  // d q + m
  Half d, m;
  uint8_t qs[16];
};
struct BlockQ5_0 {  // d (q - 16); bit i of qh is bit 4 of element i
  Half d;
  uint8_t qh[4];
  uint8_t qs[16];
};
struct BlockQ5_1 {  // d q + m
  Half d, m;
  uint8_t qh[4];
  uint8_t qs[16];
};
struct BlockQ8_0 {  // d q
  Half d;
  int8_t qs[32];
};
struct BlockIQ4_NL {  // d table[q]
  Half d;
  uint8_t qs[16];
};
struct BlockMXFP4 {  // 2^(e - 127) fp4[q]
  uint8_t e;
  uint8_t qs[16];
};

// 256 elements.
struct BlockQ2_K {  // 16 groups of 16: d (scales & 15) q - dmin (scales >> 4)
  uint8_t scales[16];
  uint8_t qs[64];
  Half d, dmin;
};
struct BlockQ3_K {  // 16 groups of 16: d (scale - 32) (q - 4), bit 2 of q in hmask
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  Half d;
};
struct BlockQ4_K {  // 8 groups of 32: d scale q - dmin min, 6-bit scales and mins
  Half d, dmin;
  uint8_t scales[12];
  uint8_t qs[128];
};
struct BlockQ5_K {
  Half d, dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};
struct BlockQ6_K {  // 16 groups of 16: d scale (q - 32)
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  Half d;
};
struct BlockIQ4_XS {  // 8 groups of 32: d (scale - 32) table[q]
  Half d;
  uint8_t scales_h[2];
  uint8_t scales_l[4];
  uint8_t qs[128];
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockIQ4_NL) == 18 && sizeof(BlockMXFP4) == 17);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210 && sizeof(BlockIQ4_XS) == 136);
static_assert(alignof(BlockQ4_0) == 1 && alignof(BlockQ4_K) == 1 && alignof(BlockIQ4_XS) == 1);

inline constexpr int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// 6-bit scale and min of group j (0..7) of Q4_K and Q5_K: the first eight bytes hold the low bits of j < 4, the last
// four and the upper two bits of the first eight the rest.
struct ScaleMin {
  uint8_t scale, min;
};
inline ScaleMin scale_min(const uint8_t (&s)[12], int j) {
  if (j < 4) return {static_cast<uint8_t>(s[j] & 63), static_cast<uint8_t>(s[j + 4] & 63)};
  return {static_cast<uint8_t>((s[j + 4] & 15) | (s[j - 4] >> 6) << 4),
          static_cast<uint8_t>((s[j + 4] >> 4) | (s[j] >> 6) << 4)};
}

// Scale of group j (0..15) of Q3_K, -32..31: low nibbles in the first eight bytes, two upper bits in the last four.
inline int q3_scale(const uint8_t (&s)[12], int j) {
  const int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4;
  return (low | (s[8 + j % 4] >> (2 * (j / 4)) & 3) << 4) - 32;
}

// Scale of group j (0..7) of IQ4_XS, -32..31.
inline int iq4_xs_scale(const BlockIQ4_XS& block, int j) {
  const int low = block.scales_l[j / 2] >> (4 * (j % 2)) & 15;
  return (low | (load<uint16_t>(block.scales_h) >> (2 * j) & 3) << 4) - 32;
}

// One block, or one element for the plain types. {0, 0} for the MLX types, whose scales stand apart.
struct BlockSize {
  int elements, bytes;
};
BlockSize block_size(DType type);

// Bytes that a tensor of `type` needs; none when a row is not a whole number of blocks, a dimension is negative or the
// count leaves 63 bits. MLX types: see mlx.h.
std::optional<size_t> tensor_bytes(DType type, std::span<const int64_t> shape);

// What a tensor takes in its file: its data and, for MLX, its scales and biases.
size_t stored_bytes(const WeightView& view);

}  // namespace longhand
