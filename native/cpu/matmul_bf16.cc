// Products of numbers rounded to bf16: bf16 weights as they stand, and packed ones that are decoded for many tokens.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "cpu/kernels/scalar.h"
#include "cpu/matmul.h"
#include "cpu/weights/floats.h"

namespace longhand::cpu {

void scalar::round_bf16(const float* x, int64_t n, uint16_t* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = to_bf16(std::fabs(x[i]) < 0x1p-126f ? 0.0f : x[i]);
}

// Sixteen sums; each adds the odd, then the even column of its pair, in every run of 32 columns.
void scalar::rows_bf16_rounded(const RoundedRowTile& tile) {
  constexpr int64_t lanes = 16;
  const auto product = [&](int64_t row, int64_t token, int64_t k) {
    if (k >= tile.in) return 0.0f;
    return cpu::from_bf16(load_u16(tile.weights + 2 * (row * tile.in + k))) *
           cpu::from_bf16(tile.x[token * tile.x_stride + k]);
  };
  for (int64_t t = 0; t < tile.tokens; ++t) {
    for (int64_t r = 0; r < tile.rows; ++r) {
      float sum[lanes] = {};
      for (int64_t k = 0; k < tile.in; k += 2 * lanes) {
        for (int64_t lane = 0; lane < lanes; ++lane) {
          sum[lane] += product(r, t, k + 2 * lane + 1);
          sum[lane] += product(r, t, k + 2 * lane);
        }
      }
      for (int64_t half = lanes / 2; half > 0; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
      tile.y[t * tile.y_stride + r] = sum[0];
    }
  }
}

// What TDPBF16PS does to rows of any length (Intel's manual): in every run of 32 columns the even and the odd ones are
// summed apart, from zero, then both are added to the sum. Numbers below the normal ones count as zero everywhere.
void scalar::rows_bf16_tiles(const RoundedRowTile& tile) {
  const auto flushed = [](float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; };
  const auto add_product = [&](float& sum, int64_t row, int64_t token, int64_t k) {
    if (k >= tile.in) return;
    const float w = flushed(cpu::from_bf16(load_u16(tile.weights + 2 * (row * tile.in + k))));
    const float x = flushed(cpu::from_bf16(tile.x[token * tile.x_stride + k]));
    sum = flushed(std::fma(w, x, sum));
  };
  for (int64_t t = 0; t < tile.tokens; ++t) {
    for (int64_t r = 0; r < tile.rows; ++r) {
      float sum = 0;
      for (int64_t run = 0; run < tile.in; run += 32) {
        float even = 0, odd = 0;
        for (int64_t k = run; k < run + 32; k += 2) {
          add_product(even, r, t, k);
          add_product(odd, r, t, k + 1);
        }
        sum = flushed(sum + flushed(even + odd));
      }
      tile.y[t * tile.y_stride + r] = sum;
    }
  }
}

namespace {

uint16_t half_away(float x) { return static_cast<uint16_t>((std::bit_cast<uint32_t>(x) + 0x8000u) >> 16); }

// Where column `column` of row `row` of a panel stands in its tile.
int64_t in_tile(int64_t row, int64_t column) { return column / 2 * 2 * panel_rows + row * 2 + column % 2; }

}  // namespace

void scalar::decode_bf16(const DecodeTile& tile) {
  for (int64_t b = 0; b < tile.blocks; ++b) {
    uint8_t block[unpacked_block_bytes];
    unpack({tile.codes + b * tile.bits * quad_bytes, tile.bits, tile.table, 1, block});
    for (int64_t column = 0; column < block_columns; ++column) {
      for (int64_t row = 0; row < panel_rows; ++row) {
        const int64_t at = (b * block_columns + column) / tile.group * panel_rows + row;
        const auto code = static_cast<float>(block[column / 4 * quad_bytes + row * 4 + column % 4] - tile.zero);
        tile.to[b * decoded_block + in_tile(row, column)] =
            half_away(tile.biases ? std::fma(code, tile.scales[at], tile.biases[at]) : code * tile.scales[at]);
      }
    }
  }
}

void scalar::multiply_decoded(const DecodedTile& tile) {
  const auto flushed = [](float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; };
  for (int64_t t = 0; t < tile.tokens; ++t) {
    for (int64_t row = 0; row < tile.panels * panel_rows; ++row) {
      const int64_t panel = row / panel_rows;
      const uint16_t* weights =
          tile.weights + panel / 2 * (tile.columns / block_columns) * decoded_block + panel % 2 * decoded_tile;
      float& y = tile.y[t * tile.y_stride + row];
      float sum = tile.adds ? y : 0.0f;
      for (int64_t column = 0; column < tile.columns; column += block_columns) {
        float both[2] = {};
        for (int64_t c = 0; c < block_columns; ++c) {
          const uint16_t w = weights[column / block_columns * decoded_block + in_tile(row % panel_rows, c)];
          const uint16_t x = tile.x[t * tile.x_stride + column + c];
          both[c % 2] = flushed(std::fma(flushed(cpu::from_bf16(w)), flushed(cpu::from_bf16(x)), both[c % 2]));
        }
        sum = flushed(sum + flushed(both[0] + both[1]));
      }
      y = sum;
    }
  }
}

namespace {

// 256 rows by 2,048 columns: 1 MB, half of what a second-level cache holds on the processors with tiles.
constexpr int64_t pairs_at_once = 8, columns_at_once = 2048;

struct alignas(64) Decoded {
  uint16_t weights[pairs_at_once * columns_at_once / block_columns * decoded_block];
  float scales[columns_at_once / 16 * panel_rows];
  float biases[columns_at_once / 16 * panel_rows];
  float sums[tokens_a_decoded_tile * panel_rows];
};

// Panels [first, first + count) of a segment, columns [column, column + columns), to memory.weights.
void decode_panels(const Kernels& kernels, const RowPlace& place, int64_t first, int64_t count, int64_t column,
                   int64_t columns, Decoded& memory) {
  const PanelLayout& layout = place.segment->layout;
  const int64_t blocks = columns / block_columns;
  for (int64_t p = 0; p < count; ++p) {
    const std::byte* panel = place.segment->panel(place.expert, first + p);
    const auto* codes = reinterpret_cast<const uint8_t*>(panel + layout.scale_bytes());
    decode_scales(kernels, packed_scales(layout, panel), column / layout.group, columns / layout.group, memory.scales,
                  memory.biases);
    kernels.decode_bf16({codes + column / block_columns * layout.block_bytes(), layout.bits, layout.table, layout.zero,
                         memory.scales, layout.biased ? memory.biases : nullptr, layout.group, blocks,
                         memory.weights + p / 2 * blocks * decoded_block + p % 2 * decoded_tile});
  }
}

// y [tokens] by `y_stride` gets whole panels.
void multiply_panels(const Kernels& kernels, const RowPlace& place, int64_t first, int64_t count, const Activations& x,
                     float* y, int64_t y_stride, Decoded& memory) {
  for (int64_t column = 0; column < x.in; column += columns_at_once) {
    const int64_t columns = std::min(columns_at_once, x.in - column);
    decode_panels(kernels, place, first, count, column, columns, memory);
    kernels.multiply_decoded(
        {memory.weights, count, columns, x.halves + column, x.halves_stride, x.tokens, y, y_stride, column > 0});
  }
}

}  // namespace

// Runs of whole panels go straight to y, a panel that is only partly wanted by way of memory.
void multiply_decoded(const Kernels& kernels, const RowPlace& place, int64_t count, const Activations& x, float* y,
                      int64_t y_stride) {
  thread_local const auto memory = std::make_unique<Decoded>();
  for (int64_t row = place.row, end = place.row + count; row < end;) {
    const int64_t panel = row / panel_rows, skipped = row % panel_rows;
    float* to = y + row - place.row;
    if (const int64_t whole = (end - row) / panel_rows; skipped == 0 && whole > 0) {
      const int64_t panels = std::min(whole, 2 * pairs_at_once);
      multiply_panels(kernels, place, panel, panels, x, to, y_stride, *memory);
      row += panels * panel_rows;
      continue;
    }
    const int64_t rows = std::min(end - row, panel_rows - skipped);
    multiply_panels(kernels, place, panel, 1, x, memory->sums, panel_rows, *memory);
    for (int64_t t = 0; t < x.tokens; ++t)
      std::copy_n(memory->sums + t * panel_rows + skipped, rows, to + t * y_stride);
    row += rows;
  }
}

}  // namespace longhand::cpu
