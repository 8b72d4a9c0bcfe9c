// Packed weights: panels of 16 rows, so that one vector lane is one row and a broadcast activation meets 16 weights.
//
// A panel is its scales, then its codes. Codes stand in blocks of 32 columns. A block is eight "quads" of 64 bytes:
// quad i holds columns 4i .. 4i+3 of all rows, the four columns of a row side by side (what the dot-product
// instructions of every set want). Fewer than eight bits are cut into planes of whole bytes, lossless and as small as
// in the file:
//   8 bits  eight quads                      4 bits  byte j of plane n: quad 2n in the low nibble, 2n + 1 in the high
//   one 5 bits  4 bits, then one plane: bit i of byte j belongs to quad i         6 bits  4 bits, then the 2-bit planes
//   2 bits  byte j of plane n: quads 4n .. 4n + 3, two bits each              3 bits  2 bits, then the 1-bit plane
// w = scale * (code - zero) [+ bias], with `table` first looked up for formats whose codes are not evenly spaced.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.h"
#include "ops/weight.h"

namespace longhand::cpu {

inline constexpr int64_t panel_rows = 16;
inline constexpr int64_t block_columns = 32;
inline constexpr int64_t quad_bytes = 64;
inline constexpr int64_t unpacked_block_bytes = 8 * quad_bytes;

// The rounding of activations (Kernels::quantise): the largest of 32 becomes 128 * 127, since no byte may be -128 (AVX2
// and SSE multiply by magnitude and sign). Values whose peak is below least_peak count as zero: the inverse would
// overflow fp32.
inline constexpr float most_code = 16256.0f;
inline constexpr float least_peak = 0x1p-100f;

struct PanelLayout {
  int64_t in = 0;
  int bits = 0;
  int zero = 0;
  const uint8_t* table = nullptr;  // 16 entries
  int64_t group = block_columns;   // columns that share a scale: 16, 32, 64, 128
  ScaleKind scales = ScaleKind::f16;
  bool biased = false;
  float global = 1.0f;  // multiplies every scale

  int64_t blocks() const { return in / block_columns; }
  int64_t groups() const { return in / group; }
  int64_t block_bytes() const { return bits * quad_bytes; }
  int64_t scale_bytes() const;  // of a panel
  int64_t panel_bytes() const { return scale_bytes() + blocks() * block_bytes(); }
};

// None when the type has no panel form, or not at this width.
bool panel_layout(const WeightView& view, PanelLayout& layout);
// Packs rows [first, first + 16) of the view (fewer at its end: the rest counts as zero).
void pack_panel(const WeightView& view, const PanelLayout& layout, int64_t first, int64_t rows, std::byte* to);
PackedScales packed_scales(const PanelLayout& layout, const std::byte* panel);
// Scales of groups [first, first + count): [count, 16] each; biases only where there are some.
void decode_scales(const Kernels& kernels, const PackedScales& packed, int64_t first, int64_t count, float* scales,
                   float* biases);

}  // namespace longhand::cpu
