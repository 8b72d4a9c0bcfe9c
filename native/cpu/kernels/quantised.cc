// Products with packed weights, the specification. The fast arithmetic is defined here down to the last bit: integer
// sums of a group, then fused multiply-adds in the order of the groups.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/kernels/scalar.h"
#include "cpu/weights/floats.h"
#include "cpu/weights/packed_weights.h"

namespace longhand::cpu {

void scalar::from_bf16(const std::byte* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = cpu::from_bf16(load_u16(from + 2 * i));
}

void scalar::two_level(const TwoLevelTile& tile) {
  for (int64_t g = tile.first; g < tile.first + tile.count; ++g) {
    for (int64_t lane = 0; lane < panel_rows; ++lane) {
      const float d = cpu::from_f16(load_u16(tile.d + 2 * (g / tile.groups_a_super * panel_rows + lane)));
      const int64_t at = g * panel_rows + lane;
      tile.to[(g - tile.first) * panel_rows + lane] =
          tile.scales ? d * static_cast<float>(tile.scales[at]) : -d * static_cast<float>(tile.minima[at]);
    }
  }
}

void scalar::unpack(const UnpackTile& tile) {
  for (int64_t block = 0; block < tile.blocks; ++block) {
    const uint8_t* from = tile.from + block * tile.bits * quad_bytes;
    uint8_t* to = tile.to + block * unpacked_block_bytes;
    for (int64_t i = 0; i < unpacked_block_bytes; ++i) {
      const int64_t quad = i / quad_bytes, byte = i % quad_bytes;
      const auto two_bits = [&](const uint8_t* planes) {
        return planes[quad / 4 * quad_bytes + byte] >> (quad % 4 * 2) & 3;
      };
      const auto one_bit = [&](const uint8_t* plane) { return plane[byte] >> quad & 1; };
      int code = 0;
      if (tile.bits == 8) code = from[i];
      else if (tile.bits >= 4) code = from[quad / 2 * quad_bytes + byte] >> (quad % 2 * 4) & 15;
      else code = two_bits(from);
      if (tile.bits == 6) code |= two_bits(from + 4 * quad_bytes) << 4;
      if (tile.bits == 5) code |= one_bit(from + 4 * quad_bytes) << 4;
      if (tile.bits == 3) code |= one_bit(from + 2 * quad_bytes) << 2;
      to[i] = tile.table ? tile.table[code] : static_cast<uint8_t>(code);
    }
  }
}

void scalar::quantise(const float* x, int64_t n, int8_t* high, int8_t* low, float* scales, int32_t* sums) {
  for (int64_t first = 0; first < n; first += block_columns) {
    float peak = 0;
    for (int64_t i = 0; i < block_columns; ++i) peak = std::max(peak, std::fabs(x[first + i]));
    const float inverse = peak >= least_peak ? most_code / peak : 0.0f;
    scales[first / block_columns] = peak / most_code;
    for (int64_t half = first; half < first + block_columns; half += 16) {
      int32_t sum = 0;
      for (int64_t i = half; i < half + 16; ++i) {
        const auto code = static_cast<int32_t>(std::nearbyint(x[i] * inverse));
        high[i] = static_cast<int8_t>((code + 64) >> 7);
        low[i] = static_cast<int8_t>(code - 128 * high[i]);
        sum += code;
      }
      sums[half / 16] = sum;
    }
  }
}

namespace {

float packed_value(ScaleKind kind, const std::byte* values, int64_t at) {
  if (kind == ScaleKind::bf16) return from_bf16(load_u16(values + 2 * at));
  if (kind != ScaleKind::f32) return from_f16(load_u16(values + 2 * at));
  float value;
  std::memcpy(&value, values + 4 * at, sizeof value);
  return value;
}

float packed_scale(const PackedScales& from, int64_t panel, int64_t group, int64_t lane) {
  const int64_t at = group * panel_rows + lane;
  if (from.kind != ScaleKind::two_level) return packed_value(from.kind, from.scales + panel, at) * from.global;
  const int64_t super = (group >> from.super_shift) * panel_rows + lane;
  return packed_value(from.kind, from.scales + panel, super) * static_cast<float>(from.integers[panel + at]) *
         from.global;
}

float packed_bias(const PackedScales& from, int64_t panel, int64_t group, int64_t lane) {
  const int64_t at = group * panel_rows + lane;
  if (from.kind != ScaleKind::two_level) return packed_value(from.kind, from.biases + panel, at);
  const int64_t super = (group >> from.super_shift) * panel_rows + lane;
  return -packed_value(from.kind, from.biases + panel, super) * static_cast<float>(from.minima[panel + at]);
}

// Codes of row `lane` in columns of one block.
uint8_t code_at(const uint8_t* block, int64_t lane, int64_t column) {
  return block[column / 4 * quad_bytes + lane * 4 + column % 4];
}

}  // namespace

// Per run of min(group, 32) columns:  sum <- fma(float(sum_k (code - zero) x_k), scale * x_scale, sum)
//                                     sum <- fma(bias, x_scale * float(sum_k x_k), sum)
// x_k are codes of 15 bits, the integer sums exact: below 2^27, with every kind of code.
void scalar::panel_fast(const PanelTile& tile) {
  const int64_t run = std::min(tile.group, block_columns);
  for (int64_t panel = 0; panel < tile.panels; ++panel) {
    for (int64_t first = 0; first < tile.blocks * block_columns; first += run) {
      uint8_t block[unpacked_block_bytes];
      const int64_t number = first / block_columns;
      unpack(
          {tile.codes + panel * tile.code_stride + number * tile.bits * quad_bytes, tile.bits, tile.table, 1, block});
      for (int64_t t = 0; t < tile.tokens; ++t) {
        const int8_t *high = tile.x_codes + 2 * t * tile.x_stride, *low = high + tile.x_stride;
        const auto x = [&](int64_t c) { return 128 * high[c] + low[c]; };
        int32_t x_sum = 0;
        for (int64_t c = first; c < first + run; ++c) x_sum += x(c);
        const float x_scale = tile.x_scales[t * tile.scale_step + number];
        for (int64_t lane = 0; lane < panel_rows; ++lane) {
          int32_t products = 0;
          for (int64_t c = first; c < first + run; ++c)
            products += (code_at(block, lane, c % block_columns) - tile.zero) * x(c);
          const int64_t group = first / tile.group, at = panel * tile.scale_stride + group * panel_rows + lane;
          const float scale =
              tile.packed ? packed_scale(*tile.packed, panel * tile.code_stride, group, lane) : tile.scales[at];
          float& sum = tile.sums[(t * tile.panels + panel) * panel_rows + lane];
          sum = std::fma(static_cast<float>(products), scale * x_scale, sum);
          if (!(tile.packed ? tile.packed->biases != nullptr : tile.biases != nullptr)) continue;
          const float bias =
              tile.packed ? packed_bias(*tile.packed, panel * tile.code_stride, group, lane) : tile.biases[at];
          sum = std::fma(bias, x_scale * static_cast<float>(x_sum), sum);
        }
      }
    }
  }
}

void scalar::panel_exact(const PanelTile& tile) {
  const int64_t run = std::min(tile.group, block_columns);
  for (int64_t t = 0; t < tile.tokens; ++t) {
    for (int64_t row = 0; row < tile.panels * panel_rows; ++row) {
      const int64_t panel = row / panel_rows, lane = row % panel_rows;
      float& sum = tile.sums[t * tile.panels * panel_rows + row];
      for (int64_t first = 0; first < tile.blocks * block_columns; first += run) {
        const uint8_t* block = tile.codes + panel * tile.code_stride + first / block_columns * unpacked_block_bytes;
        float products[4] = {};
        for (int64_t c = first; c < first + run; ++c) {
          const auto code = static_cast<float>(code_at(block, lane, c % block_columns) - tile.zero);
          products[c % 4] += code * tile.x[t * tile.x_stride + c];
        }
        float x_sum = 0;
        for (int64_t half = first / 16; half < (first + run) / 16; ++half)
          x_sum += tile.x_sums[t * tile.sum_step + half];
        const int64_t at = panel * tile.scale_stride + first / tile.group * panel_rows + lane;
        sum += ((products[0] + products[1]) + (products[2] + products[3])) * tile.scales[at];
        if (tile.biases) sum += tile.biases[at] * x_sum;
      }
    }
  }
}

}  // namespace longhand::cpu
