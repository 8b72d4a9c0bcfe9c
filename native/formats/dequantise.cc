// Every layout to fp32, written to be read: the arithmetic here is what each kernel is compared with.
#include <stdexcept>

#include "formats/blocks.h"
#include "formats/checkpoint.h"
#include "formats/dequantise_blocks.h"

namespace longhand {
namespace {

template <class T>
void plain(const std::byte* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(load<T>(from + i * static_cast<int64_t>(sizeof(T))));
}

template <class Bits, float (*convert)(Bits)>
void converted(const std::byte* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = convert(load<Bits>(from + i * static_cast<int64_t>(sizeof(Bits))));
}

// Blocks of one row after the other; rows are whole numbers of blocks.
template <class Block, int Elements, void (*decode)(const Block&, float*)>
void blocks(const std::byte* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count / Elements; ++i) decode(reinterpret_cast<const Block*>(from)[i], to + i * Elements);
}

using Decoder = void (*)(const std::byte* from, int64_t count, float* to);

Decoder decoder_of(DType type) {
  switch (type) {
    case DType::f32: return plain<float>;
    case DType::f16: return converted<uint16_t, f16_to_f32>;
    case DType::bf16: return converted<uint16_t, bf16_to_f32>;
    case DType::f8_e4m3: return converted<uint8_t, e4m3_to_f32>;
    case DType::f8_e5m2: return converted<uint8_t, e5m2_to_f32>;
    case DType::boolean:
    case DType::u8: return plain<uint8_t>;
    case DType::i8: return plain<int8_t>;
    case DType::u16: return plain<uint16_t>;
    case DType::i16: return plain<int16_t>;
    case DType::u32: return plain<uint32_t>;
    case DType::i32: return plain<int32_t>;
    case DType::u64: return plain<uint64_t>;
    case DType::i64: return plain<int64_t>;
    case DType::f64: return plain<double>;
    case DType::q4_0: return blocks<BlockQ4_0, 32, decode_q4_0>;
    case DType::q4_1: return blocks<BlockQ4_1, 32, decode_q4_1>;
    case DType::q5_0: return blocks<BlockQ5_0, 32, decode_q5_0>;
    case DType::q5_1: return blocks<BlockQ5_1, 32, decode_q5_1>;
    case DType::q8_0: return blocks<BlockQ8_0, 32, decode_q8_0>;
    case DType::q2_k: return blocks<BlockQ2_K, 256, decode_q2_k>;
    case DType::q3_k: return blocks<BlockQ3_K, 256, decode_q3_k>;
    case DType::q4_k: return blocks<BlockQ4_K, 256, decode_q4_k>;
    case DType::q5_k: return blocks<BlockQ5_K, 256, decode_q5_k>;
    case DType::q6_k: return blocks<BlockQ6_K, 256, decode_q6_k>;
    case DType::iq4_nl: return blocks<BlockIQ4_NL, 32, decode_iq4_nl>;
    case DType::iq4_xs: return blocks<BlockIQ4_XS, 256, decode_iq4_xs>;
    case DType::gguf_mxfp4: return blocks<BlockMXFP4, 32, decode_mxfp4>;
    case DType::affine:
    case DType::mxfp4:
    case DType::mxfp8:
    case DType::nvfp4: return nullptr;
  }
  return nullptr;
}

// `bits` bits starting at bit `index * bits` of a little-endian stream. Reads only the bytes it needs.
uint32_t code_at(const std::byte* row, int64_t index, int bits) {
  const int64_t first_bit = index * bits;
  const auto shift = static_cast<uint32_t>(first_bit & 7);
  uint32_t window = std::to_integer<uint32_t>(row[first_bit >> 3]);
  if (shift + static_cast<uint32_t>(bits) > 8) window |= std::to_integer<uint32_t>(row[(first_bit >> 3) + 1]) << 8;
  return window >> shift & ((1u << bits) - 1u);
}

float scale_at(DType type, const std::byte* scales, int64_t index) {
  switch (type) {
    case DType::f32: return load<float>(scales + index * 4);
    case DType::f16: return f16_to_f32(load<uint16_t>(scales + index * 2));
    default: return bf16_to_f32(load<uint16_t>(scales + index * 2));
  }
}

// MLX, one row: codes are a bit stream, scales (and biases) one a group.
void grouped_row(const WeightView& view, int64_t row, int64_t in, float* to) {
  const GroupScales& a = view.affine;
  const std::byte* codes = view.data + row * in * a.bits / 8;
  const int64_t groups = in / a.group;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t at = row * groups + g;
    float scale = 0.0f;
    float bias = 0.0f;
    if (view.type == DType::affine) {
      scale = scale_at(a.scale_type, a.scales, at);
      bias = scale_at(a.scale_type, a.biases, at);
    } else {
      const auto bits = std::to_integer<uint8_t>(a.scales[at]);
      scale = view.type == DType::nvfp4 ? e4m3_to_f32(bits) * a.global_scale : e8m0_to_f32(bits);
    }
    for (int64_t i = g * a.group; i < (g + 1) * a.group; ++i) {
      const uint32_t code = code_at(codes, i, a.bits);
      if (view.type == DType::affine) to[i] = scale * static_cast<float>(code) + bias;
      else if (view.type == DType::mxfp8) to[i] = scale * e4m3_to_f32(static_cast<uint8_t>(code));
      else to[i] = scale * fp4_values[code];
    }
  }
}

}  // namespace

void dequantise_rows(const WeightView& view, int64_t first, int64_t count, float* to) {
  const int64_t in = view.shape.empty() ? 1 : view.shape.back();
  const int64_t rows = in == 0 ? 0 : view.elements() / in;
  if (first < 0 || count < 0 || first > rows || count > rows - first)
    throw std::out_of_range("[formats] rows " + std::to_string(first) + " to " + std::to_string(first + count) +
                            " of \"" + view.name + "\", which has " + std::to_string(rows));
  if (view.data == nullptr && count > 0)
    throw std::logic_error("[formats] \"" + view.name + "\" was opened from headers alone and has no data");
  const Decoder decode = decoder_of(view.type);
  if (decode == nullptr) {
    for (int64_t row = 0; row < count; ++row) grouped_row(view, first + row, in, to + row * in);
    return;
  }
  const BlockSize block = block_size(view.type);
  decode(view.data + first * (in / block.elements) * block.bytes, count * in, to);
}

std::vector<float> to_floats(const WeightView& view) {
  const int64_t in = view.shape.empty() ? 1 : view.shape.back();
  std::vector<float> result(static_cast<size_t>(view.elements()));
  if (!result.empty()) dequantise_rows(view, 0, view.elements() / in, result.data());
  return result;
}

WeightView rows_of(const WeightView& view, int64_t first, int64_t count) {
  WeightView out = view;
  const auto rows = static_cast<size_t>(view.elements() / view.shape.back());
  const size_t row_bytes = view.data_bytes / rows;
  out.shape = {count, view.shape.back()};
  out.data_bytes = row_bytes * static_cast<size_t>(count);
  if (view.data) out.data = view.data + row_bytes * static_cast<size_t>(first);
  if (view.affine.scales) {
    const size_t groups = static_cast<size_t>(view.shape.back() / view.affine.group);
    const size_t scale_row = groups * (view.affine.scale_type == DType::f32  ? 4
                                       : view.affine.scale_type == DType::u8 ? 1
                                                                             : 2);
    out.affine.scales += scale_row * static_cast<size_t>(first);
    if (view.affine.biases) out.affine.biases += scale_row * static_cast<size_t>(first);
  }
  return out;
}

}  // namespace longhand
