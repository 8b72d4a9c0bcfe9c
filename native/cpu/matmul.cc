// Floats: the specification decodes to fp32 and multiplies in fp32. Packed codes: quantised.cc; bf16: matmul_bf16.cc.
#include "cpu/matmul.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/kernels/scalar.h"
#include "cpu/weights/floats.h"

namespace longhand::cpu {
namespace {

template <class Decode>
void rows_tile(const RowTile& tile, const Decode& decode) {
  thread_local std::vector<float> row;
  row.resize(static_cast<size_t>(tile.in));
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (int64_t k = 0; k < tile.in; ++k) row[static_cast<size_t>(k)] = decode(i * tile.in + k);
    for (int64_t t = 0; t < tile.tokens; ++t)
      tile.y[t * tile.y_stride + i] = scalar::dot(row.data(), tile.x + t * tile.x_stride, tile.in);
  }
}

}  // namespace

void scalar::rows_f32(const RowTile& tile) {
  rows_tile(tile, [&](int64_t i) {
    float value;
    std::memcpy(&value, tile.weights + 4 * i, sizeof value);
    return value;
  });
}
void scalar::rows_f16(const RowTile& tile) {
  rows_tile(tile, [&](int64_t i) { return cpu::from_f16(load_u16(tile.weights + 2 * i)); });
}
void scalar::rows_bf16(const RowTile& tile) {
  rows_tile(tile, [&](int64_t i) { return cpu::from_bf16(load_u16(tile.weights + 2 * i)); });
}

Rounding Rounding::token(int64_t first, int64_t in) const {
  if (!codes) return {};
  return {codes + 2 * first * in,
          scales + first * (in / block_columns),
          code_sums + first * (in / 16),
          low ? low + first * (in / block_columns) : nullptr,
          blocks ? blocks + first * block_columns : nullptr,
          block_stride};
}

Activations Activations::token(int64_t first, int64_t count) const {
  Activations part = *this;
  if (x) part.x += first * stride;
  part.tokens = count;
  part.rounded = rounded.token(first, in);
  if (sums) part.sums += first * (in / 16);
  if (halves) part.halves += first * halves_stride;
  return part;
}

namespace {

constexpr int64_t chunk_columns = 1024;  // 16 KB of unpacked codes a panel: they stay in the first-level cache
constexpr int64_t most_tokens = 128;     // so do the sums of two panels

struct alignas(64) Workspace {
  uint8_t codes[2 * chunk_columns * panel_rows];
  float scales[2 * chunk_columns / 16 * panel_rows];
  float biases[2 * chunk_columns / 16 * panel_rows];
  float sums[most_tokens * 2 * panel_rows];
};

// Mostly two whole panels: a length that the compiler knows is copied without a call.
void copy_sums(const float* from, int64_t rows, float* to) {
  if (rows == 2 * panel_rows) std::memcpy(to, from, 2 * panel_rows * sizeof(float));
  else std::copy_n(from, rows, to);
}

// The rounded tokens of x from `column` on.
void take_rounded(PanelTile& tile, const Activations& x, int64_t column) {
  tile.x_stride = x.in;
  tile.scale_step = x.in / block_columns;
  tile.sum_step = x.in / 16;
  tile.x_codes = x.rounded.codes + column;
  tile.x_scales = x.rounded.scales + column / block_columns;
  tile.x_code_sums = x.rounded.code_sums + column / 16;
  if (x.rounded.low) tile.x_low = x.rounded.low + column / block_columns;
  if (!x.rounded.blocks) return;
  tile.block_stride = x.rounded.block_stride;
  tile.x_blocks = x.rounded.blocks + column / block_columns * tile.block_stride;
}

// sums[t][panels * 16] += panels [first, first + count) times the tokens of x, as they are or (fast path) rounded;
// count is 1 or 2.
void multiply_panels(const Kernels& kernels, const Segment& segment, int64_t expert, int64_t first, int64_t count,
                     const Activations& x, Workspace& work) {
  const PanelLayout& layout = segment.layout;
  const bool fast = x.rounded.codes != nullptr;
  PanelTile tile{.codes = work.codes,
                 .scales = work.scales,
                 .biases = layout.biased ? work.biases : nullptr,
                 .panels = static_cast<int>(count),
                 .code_stride = chunk_columns * panel_rows,
                 .scale_stride = chunk_columns / 16 * panel_rows,
                 .group = layout.group,
                 .zero = layout.zero,
                 .code_bits = layout.table ? 8 : layout.bits,
                 .tokens = x.tokens,
                 .x_stride = x.stride,
                 .sum_step = x.in / 16,
                 .sums = work.sums};
  for (int64_t column = 0; column < layout.in; column += chunk_columns) {
    const int64_t columns = std::min(chunk_columns, layout.in - column), block = column / block_columns;
    tile.blocks = columns / block_columns;
    for (int64_t p = 0; p < count; ++p) {
      const std::byte* panel = segment.panel(expert, first + p);
      const auto* codes = reinterpret_cast<const uint8_t*>(panel + layout.scale_bytes()) + block * layout.block_bytes();
      decode_scales(kernels, packed_scales(layout, panel), column / layout.group, columns / layout.group,
                    work.scales + p * tile.scale_stride, work.biases + p * tile.scale_stride);
      kernels.unpack({codes, layout.bits, layout.table, tile.blocks, work.codes + p * tile.code_stride});
    }
    if (fast) {
      take_rounded(tile, x, column);
      kernels.panel_fast(tile);
    } else {
      tile.x = x.x + column;
      tile.x_sums = x.sums + column / 16;
      kernels.panel_exact(tile);
    }
  }
}

// A few rounded tokens: panels as they are packed, each read once.
void multiply_as_packed(const Kernels& kernels, const RowPlace& place, int64_t count, const Activations& x, float* y,
                        int64_t y_stride) {
  const PanelLayout& layout = place.segment->layout;
  alignas(64) float sums[most_packed_tokens * 2 * panel_rows];
  PackedScales scales{};
  PanelTile tile{.bits = layout.bits,
                 .table = layout.table,
                 .packed = &scales,
                 .code_stride = layout.panel_bytes(),
                 .blocks = layout.blocks(),
                 .group = layout.group,
                 .zero = layout.zero,
                 .code_bits = layout.table ? 8 : layout.bits,
                 .tokens = x.tokens,
                 .sums = sums};
  take_rounded(tile, x, 0);
  for (int64_t row = place.row; row < place.row + count;) {
    const int64_t skipped = row % panel_rows, left_rows = place.row + count - row;
    tile.panels = skipped + left_rows > panel_rows ? 2 : 1;
    const int64_t width = tile.panels * panel_rows, rows = std::min(left_rows, width - skipped);
    const std::byte* panel = place.segment->panel(place.expert, row / panel_rows);
    scales = packed_scales(layout, panel);
    tile.codes = reinterpret_cast<const uint8_t*>(panel + layout.scale_bytes());
    std::fill_n(sums, x.tokens * width, 0.0f);
    kernels.panel_fast(tile);
    for (int64_t t = 0; t < x.tokens; ++t)
      copy_sums(sums + t * width + skipped, rows, y + t * y_stride + row - place.row);
    row += rows;
  }
}

// Rows [row, row + count) of a packed segment; a panel that is only partly wanted is computed whole.
void multiply_packed(const Kernels& kernels, const RowPlace& place, int64_t count, const Activations& x, float* y,
                     int64_t y_stride) {
  thread_local const auto work = std::make_unique<Workspace>();
  Workspace& memory = *work;
  for (int64_t token = 0; token < x.tokens; token += most_tokens) {
    const Activations part = x.token(token, std::min(most_tokens, x.tokens - token));
    if (part.rounded.codes && part.tokens <= kernels.packed_tokens) {
      multiply_as_packed(kernels, place, count, part, y + token * y_stride, y_stride);
      continue;
    }
    for (int64_t row = place.row; row < place.row + count;) {
      const int64_t panel = row / panel_rows, skipped = row % panel_rows;
      const int64_t left = place.row + count - row;
      const int64_t panels = skipped + left > panel_rows ? 2 : 1;
      const int64_t width = panels * panel_rows;
      std::fill_n(memory.sums, part.tokens * width, 0.0f);
      multiply_panels(kernels, *place.segment, place.expert, panel, panels, part, memory);
      const int64_t rows = std::min(left, width - skipped);
      for (int64_t t = 0; t < part.tokens; ++t)
        copy_sums(memory.sums + t * width + skipped, rows, y + (token + t) * y_stride + row - place.row);
      row += rows;
    }
  }
}

}  // namespace

void matmul_tile(const Kernels& kernels, const CpuWeight& weight, int64_t first, int64_t count, const Activations& x,
                 float* y, int64_t y_stride) {
  while (count > 0) {
    const RowPlace place = find_row(weight, first);
    const Segment& segment = *place.segment;
    const int64_t rows = std::min(count, segment.rows - place.row);
    if (segment.packed && x.decodes) {
      multiply_decoded(kernels, place, rows, x, y, y_stride);
    } else if (segment.packed) {
      multiply_packed(kernels, place, rows, x, y, y_stride);
    } else if (segment.type == DType::bf16 && x.halves) {
      kernels.rows_bf16_rounded({segment.row(place.expert, place.row, weight.in), rows, weight.in, x.halves,
                                 x.halves_stride, x.tokens, y, y_stride});
    } else {
      const RowTile tile{
          segment.row(place.expert, place.row, weight.in), rows, weight.in, x.x, x.stride, x.tokens, y, y_stride};
      (segment.type == DType::f32   ? kernels.rows_f32
       : segment.type == DType::f16 ? kernels.rows_f16
                                    : kernels.rows_bf16)(tile);
    }
    first += rows;
    count -= rows;
    y += rows;
  }
}

}  // namespace longhand::cpu
