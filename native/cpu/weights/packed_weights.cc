// From file blocks to panels.
#include "cpu/weights/packed_weights.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/weights/floats.h"
#include "formats/blocks.h"

namespace longhand::cpu {
namespace {

constexpr std::array<uint8_t, 16> shifted(const int8_t (&values)[16]) {
  std::array<uint8_t, 16> table{};
  for (size_t i = 0; i < 16; ++i) table[i] = static_cast<uint8_t>(values[i] + 128);
  return table;
}
constexpr int8_t doubled_fp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
constexpr auto iq4_table = shifted(iq4_values);
constexpr auto fp4_table = shifted(doubled_fp4);

// One row as the file has it: codes, and scales (biases) as they will stand in the panel.
struct Row {
  std::vector<uint8_t> codes;
  std::vector<uint16_t> super, super_min;  // two_level: f16 d, dmin
  std::vector<int8_t> scale;               // two_level
  std::vector<uint8_t> minimum;
  std::vector<uint16_t> half, half_bias;  // f16, bf16
  std::vector<float> full, full_bias;     // f32
};

int nibble(const uint8_t* qs, int64_t i) { return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4; }
// Nibbles of 256 elements: 32 bytes hold 64 of them, low nibbles first.
int nibble_k(const uint8_t* qs, int64_t i) { return qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15; }

// The codes of one block. With the number of the run known, what `code` computes of an index folds into constants and a
// run is read as a vector.
template <int64_t size, class Block, class Code>
void read_codes(const Block& block, const Code& code, uint8_t* to) {
  constexpr int64_t run = 16;
#pragma GCC unroll 16
  for (int64_t first = 0; first < size; first += run)
    for (int64_t i = 0; i < run; ++i) to[first + i] = static_cast<uint8_t>(code(block, first + i));
}

template <class Block, class Code>
void blocks_of_32(const std::byte* from, Row& row, const Code& code) {
  const auto* blocks = reinterpret_cast<const Block*>(from);
  for (size_t b = 0; b < row.codes.size() / 32; ++b) {
    read_codes<32>(blocks[b], code, row.codes.data() + 32 * b);
    if constexpr (requires { blocks[b].d; }) row.half.push_back(load<uint16_t>(blocks[b].d.bytes));
    if constexpr (requires { blocks[b].m; }) row.half_bias.push_back(load<uint16_t>(blocks[b].m.bytes));
  }
}

template <class Block, class Code, class Scale>
void blocks_of_256(const std::byte* from, Row& row, int64_t groups, const Code& code, const Scale& scale) {
  const auto* blocks = reinterpret_cast<const Block*>(from);
  for (size_t b = 0; b < row.codes.size() / 256; ++b) {
    read_codes<256>(blocks[b], code, row.codes.data() + 256 * b);
    row.super.push_back(load<uint16_t>(blocks[b].d.bytes));
    if constexpr (requires { blocks[b].dmin; }) row.super_min.push_back(load<uint16_t>(blocks[b].dmin.bytes));
    for (int64_t g = 0; g < groups; ++g) scale(blocks[b], static_cast<int>(g), row);
  }
}

void fp_scales(const WeightView& view, int64_t index, int64_t groups, Row& row) {
  for (int64_t g = index * groups; g < (index + 1) * groups; ++g) {
    const auto bits = std::to_integer<uint8_t>(view.affine.scales[g]);
    row.half.push_back(to_bf16((view.type == DType::nvfp4 ? e4m3_to_f32(bits) : e8m0_to_f32(bits)) * 0.5f));
  }
}

void stream_row(const WeightView& view, const PanelLayout& layout, int64_t index, Row& row) {
  const auto bits = static_cast<int64_t>(layout.bits);
  const auto* from = reinterpret_cast<const uint8_t*>(view.data) + index * layout.in * bits / 8;
  for (int64_t i = 0; i < layout.in; ++i) {
    const int64_t at = i * bits, shift = at & 7;
    uint32_t window = from[at >> 3];
    if (shift + bits > 8) window |= static_cast<uint32_t>(from[(at >> 3) + 1]) << 8;
    row.codes[static_cast<size_t>(i)] = static_cast<uint8_t>(window >> shift & ((1u << bits) - 1u));
  }
  const GroupScales& a = view.affine;
  if (view.type != DType::affine) return fp_scales(view, index, layout.groups(), row);
  for (int64_t g = index * layout.groups(); g < (index + 1) * layout.groups(); ++g) {
    if (layout.scales == ScaleKind::f32) {
      row.full.push_back(load<float>(a.scales + 4 * g));
      row.full_bias.push_back(load<float>(a.biases + 4 * g));
    } else {
      row.half.push_back(load<uint16_t>(a.scales + 2 * g));
      row.half_bias.push_back(load<uint16_t>(a.biases + 2 * g));
    }
  }
}

Row read_row(const WeightView& view, const PanelLayout& layout, int64_t index) {
  Row row;
  row.codes.resize(static_cast<size_t>(layout.in));
  const BlockSize size = block_size(view.type);
  const std::byte* from = size.elements ? view.data + index * (layout.in / size.elements) * size.bytes : nullptr;
  const auto five = [](const auto& b, int64_t i) {
    return nibble(b.qs, i) | static_cast<int>(load<uint32_t>(b.qh) >> i & 1u) << 4;
  };
  switch (view.type) {
    case DType::q4_0:
      blocks_of_32<BlockQ4_0>(from, row, [](const auto& b, int64_t i) { return nibble(b.qs, i); });
      break;
    case DType::q4_1:
      blocks_of_32<BlockQ4_1>(from, row, [](const auto& b, int64_t i) { return nibble(b.qs, i); });
      break;
    case DType::q5_0: blocks_of_32<BlockQ5_0>(from, row, five); break;
    case DType::q5_1: blocks_of_32<BlockQ5_1>(from, row, five); break;
    case DType::q8_0: blocks_of_32<BlockQ8_0>(from, row, [](const auto& b, int64_t i) { return b.qs[i] + 128; }); break;
    case DType::iq4_nl:
      blocks_of_32<BlockIQ4_NL>(from, row, [](const auto& b, int64_t i) { return nibble(b.qs, i); });
      break;
    case DType::gguf_mxfp4:
      blocks_of_32<BlockMXFP4>(from, row, [](const auto& b, int64_t i) { return nibble(b.qs, i); });
      for (int64_t b = 0; b < layout.blocks(); ++b)
        row.half.push_back(to_bf16(e8m0_to_f32(reinterpret_cast<const BlockMXFP4*>(from)[b].e) * 0.5f));
      break;
    case DType::q2_k:
      blocks_of_256<BlockQ2_K>(
          from, row, 16, [](const auto& b, int64_t i) { return b.qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; },
          [](const auto& b, int g, Row& to) {
            to.scale.push_back(static_cast<int8_t>(b.scales[g] & 15));
            to.minimum.push_back(b.scales[g] >> 4);
          });
      break;
    case DType::q3_k:
      blocks_of_256<BlockQ3_K>(
          from, row, 16,
          [](const auto& b, int64_t i) {
            return (b.qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) | (b.hmask[i % 32] >> (i / 32) & 1) << 2;
          },
          [](const auto& b, int g, Row& to) { to.scale.push_back(static_cast<int8_t>(q3_scale(b.scales, g))); });
      break;
    case DType::q4_k:
    case DType::q5_k: {
      const auto scale = [](const auto& b, int g, Row& to) {
        const ScaleMin both = scale_min(b.scales, g);
        to.scale.push_back(static_cast<int8_t>(both.scale));
        to.minimum.push_back(both.min);
      };
      if (view.type == DType::q4_k)
        blocks_of_256<BlockQ4_K>(from, row, 8, [](const auto& b, int64_t i) { return nibble_k(b.qs, i); }, scale);
      else
        blocks_of_256<BlockQ5_K>(
            from, row, 8,
            [](const auto& b, int64_t i) { return nibble_k(b.qs, i) | (b.qh[i % 32] >> (i / 32) & 1) << 4; }, scale);
      break;
    }
    case DType::q6_k:
      blocks_of_256<BlockQ6_K>(
          from, row, 16,
          [](const auto& b, int64_t i) {
            const int64_t half = i / 128, in_half = i % 128;
            const int low = b.ql[half * 64 + in_half % 64] >> (in_half / 64 * 4) & 15;
            return low | (b.qh[half * 32 + in_half % 32] >> (in_half / 32 * 2) & 3) << 4;
          },
          [](const auto& b, int g, Row& to) { to.scale.push_back(b.scales[g]); });
      break;
    case DType::iq4_xs:
      blocks_of_256<BlockIQ4_XS>(
          from, row, 8, [](const auto& b, int64_t i) { return nibble(b.qs + i / 32 * 16, i % 32); },
          [](const auto& b, int g, Row& to) { to.scale.push_back(static_cast<int8_t>(iq4_xs_scale(b, g))); });
      break;
    default: stream_row(view, layout, index, row);
  }
  return row;
}

// Row r's code of column c goes to byte (c / 4 % 8, r * 4 + c % 4) of block c / 32 ...
void spread_block(const std::vector<Row>& rows, int64_t block, uint8_t (&quads)[unpacked_block_bytes]) {
  std::memset(quads, 0, sizeof quads);
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t i = 0; i < 8; ++i)
      std::memcpy(quads + i * quad_bytes + static_cast<int64_t>(r) * 4,
                  rows[r].codes.data() + block * block_columns + 4 * i, 4);
}

// ... and the eight quads into planes, eight bytes at a time: masks keep bits from their neighbours.
void cut_planes(const uint8_t (&quads)[unpacked_block_bytes], int bits, uint8_t* to) {
  constexpr int64_t words = quad_bytes / 8;
  uint64_t from[8 * words], planes[8 * words] = {};
  std::memcpy(from, quads, sizeof from);
  const auto add = [&](int64_t plane, int64_t i, int from_bit, uint64_t mask, int shift) {
    const uint64_t in_each_byte = mask * 0x0101010101010101u;
    for (int64_t j = 0; j < words; ++j)
      planes[plane * words + j] |= (from[i * words + j] >> from_bit & in_each_byte) << shift;
  };
  for (int64_t i = 0; i < 8; ++i) {
    const int pair = static_cast<int>(i % 2) * 4, four = static_cast<int>(i % 4) * 2;
    if (bits == 8) add(i, i, 0, 255, 0);
    if (bits >= 4 && bits <= 6) add(i / 2, i, 0, 15, pair);
    if (bits <= 3) add(i / 4, i, 0, 3, four);
    if (bits == 6) add(4 + i / 4, i, 4, 3, four);
    if (bits == 5) add(4, i, 4, 1, static_cast<int>(i));
    if (bits == 3) add(2, i, 2, 1, static_cast<int>(i));
  }
  std::memcpy(to, planes, static_cast<size_t>(bits * quad_bytes));
}

// Arrays [count, 16] one after the other; lane r of each is this row.
template <class T>
std::byte* put_lane(const std::vector<T>& values, int64_t r, std::byte* to) {
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(to + (static_cast<int64_t>(i) * panel_rows + r) * static_cast<int64_t>(sizeof(T)), &values[i],
                sizeof(T));
  return to + static_cast<int64_t>(values.size() * sizeof(T)) * panel_rows;
}

void put_scales(const Row& row, int64_t r, std::byte* to) {
  to = put_lane(row.super, r, to);
  to = put_lane(row.super_min, r, to);
  to = put_lane(row.scale, r, to);
  to = put_lane(row.minimum, r, to);
  to = put_lane(row.half, r, to);
  to = put_lane(row.half_bias, r, to);
  to = put_lane(row.full, r, to);
  put_lane(row.full_bias, r, to);
}

}  // namespace

int64_t PanelLayout::scale_bytes() const {
  const int64_t arrays = biased ? 2 : 1;
  switch (scales) {
    case ScaleKind::f32: return arrays * groups() * panel_rows * 4;
    case ScaleKind::two_level: return arrays * panel_rows * (in / 256 * 2 + groups());
    case ScaleKind::f16:
    case ScaleKind::bf16: break;
  }
  return arrays * groups() * panel_rows * 2;
}

bool panel_layout(const WeightView& view, PanelLayout& layout) {
  layout.in = view.shape.back();
  if (layout.in % block_columns != 0 || layout.in == 0) return false;
  const auto set = [&](int bits, int zero, bool biased = false, ScaleKind scales = ScaleKind::f16, int64_t group = 32,
                       const uint8_t* table = nullptr) {
    layout.bits = bits;
    layout.zero = zero;
    layout.biased = biased;
    layout.scales = scales;
    layout.group = group;
    layout.table = table;
    return true;
  };
  const GroupScales& a = view.affine;
  switch (view.type) {
    case DType::q4_0: return set(4, 8);
    case DType::q4_1: return set(4, 0, true);
    case DType::q5_0: return set(5, 16);
    case DType::q5_1: return set(5, 0, true);
    case DType::q8_0: return set(8, 128);
    case DType::iq4_nl: return set(4, 128, false, ScaleKind::f16, 32, iq4_table.data());
    case DType::gguf_mxfp4: return set(4, 128, false, ScaleKind::bf16, 32, fp4_table.data());
    case DType::q2_k: return set(2, 0, true, ScaleKind::two_level, 16);
    case DType::q3_k: return set(3, 4, false, ScaleKind::two_level, 16);
    case DType::q4_k: return set(4, 0, true, ScaleKind::two_level);
    case DType::q5_k: return set(5, 0, true, ScaleKind::two_level);
    case DType::q6_k: return set(6, 32, false, ScaleKind::two_level, 16);
    case DType::iq4_xs: return set(4, 128, false, ScaleKind::two_level, 32, iq4_table.data());
    case DType::mxfp4: return set(4, 128, false, ScaleKind::bf16, 32, fp4_table.data());
    case DType::nvfp4: layout.global = a.global_scale; return set(4, 128, false, ScaleKind::bf16, 16, fp4_table.data());
    case DType::affine: {
      const ScaleKind scales = a.scale_type == DType::f32   ? ScaleKind::f32
                               : a.scale_type == DType::f16 ? ScaleKind::f16
                                                            : ScaleKind::bf16;
      return set(a.bits, 0, true, scales, a.group) && layout.in % a.group == 0 && a.group >= 16 &&
             std::has_single_bit(static_cast<uint64_t>(a.group));
    }
    default: return false;
  }
}

void pack_panel(const WeightView& view, const PanelLayout& layout, int64_t first, int64_t rows, std::byte* to) {
  std::vector<Row> read;
  for (int64_t r = 0; r < rows; ++r) {
    read.push_back(read_row(view, layout, first + r));
    put_scales(read.back(), r, to);
  }
  auto* codes = reinterpret_cast<uint8_t*>(to + layout.scale_bytes());
  for (int64_t b = 0; b < layout.blocks(); ++b) {
    uint8_t quads[unpacked_block_bytes];
    spread_block(read, b, quads);
    cut_planes(quads, layout.bits, codes + b * layout.block_bytes());
  }
}

PackedScales packed_scales(const PanelLayout& layout, const std::byte* panel) {
  const int64_t all = layout.groups() * panel_rows;
  if (layout.scales != ScaleKind::two_level) {
    const std::byte* second = panel + all * (layout.scales == ScaleKind::f32 ? 4 : 2);
    return {layout.scales, panel, layout.biased ? second : nullptr, nullptr, nullptr, 0, layout.global};
  }
  const int64_t d = layout.in / 256 * panel_rows * 2;
  const std::byte* integers = panel + (layout.biased ? 2 * d : d);
  return {layout.scales,
          panel,
          layout.biased ? panel + d : nullptr,
          reinterpret_cast<const int8_t*>(integers),
          layout.biased ? reinterpret_cast<const uint8_t*>(integers + all) : nullptr,
          std::countr_zero(static_cast<uint64_t>(256 / layout.group)),
          layout.global};
}

void decode_scales(const Kernels& kernels, const PackedScales& packed, int64_t first, int64_t count, float* scales,
                   float* biases) {
  const int64_t values = count * panel_rows, from = first * panel_rows;
  const auto plain = [&](const std::byte* array, float* to) {
    switch (packed.kind) {
      case ScaleKind::f16: return kernels.from_f16(array + 2 * from, values, to);
      case ScaleKind::bf16: return kernels.from_bf16(array + 2 * from, values, to);
      default: std::memcpy(to, array + 4 * from, static_cast<size_t>(values) * sizeof(float));
    }
  };
  if (packed.kind != ScaleKind::two_level) {
    plain(packed.scales, scales);
    if (packed.biases) plain(packed.biases, biases);
  } else {
    const int64_t groups_a_super = int64_t{1} << packed.super_shift;
    kernels.two_level({packed.scales, packed.integers, nullptr, first, count, groups_a_super, scales});
    if (packed.biases) kernels.two_level({packed.biases, nullptr, packed.minima, first, count, groups_a_super, biases});
  }
  for (int64_t i = 0; packed.global != 1.0f && i < values; ++i) scales[i] *= packed.global;
}

}  // namespace longhand::cpu
