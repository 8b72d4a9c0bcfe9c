#include "formats/blocks.h"

#include <array>

namespace longhand {
namespace {

struct TypeSize {
  DType type;
  const char* name;
  BlockSize block;
};
constexpr TypeSize types[] = {
    {DType::f32, "f32", {1, 4}},
    {DType::f16, "f16", {1, 2}},
    {DType::bf16, "bf16", {1, 2}},
    {DType::f8_e4m3, "f8_e4m3", {1, 1}},
    {DType::f8_e5m2, "f8_e5m2", {1, 1}},
    {DType::u8, "u8", {1, 1}},
    {DType::i8, "i8", {1, 1}},
    {DType::u16, "u16", {1, 2}},
    {DType::i16, "i16", {1, 2}},
    {DType::u32, "u32", {1, 4}},
    {DType::i32, "i32", {1, 4}},
    {DType::u64, "u64", {1, 8}},
    {DType::i64, "i64", {1, 8}},
    {DType::f64, "f64", {1, 8}},
    {DType::boolean, "bool", {1, 1}},
    {DType::affine, "affine", {0, 0}},
    {DType::mxfp4, "mxfp4", {0, 0}},
    {DType::mxfp8, "mxfp8", {0, 0}},
    {DType::nvfp4, "nvfp4", {0, 0}},
    {DType::q4_0, "q4_0", {32, sizeof(BlockQ4_0)}},
    {DType::q4_1, "q4_1", {32, sizeof(BlockQ4_1)}},
    {DType::q5_0, "q5_0", {32, sizeof(BlockQ5_0)}},
    {DType::q5_1, "q5_1", {32, sizeof(BlockQ5_1)}},
    {DType::q8_0, "q8_0", {32, sizeof(BlockQ8_0)}},
    {DType::q2_k, "q2_k", {256, sizeof(BlockQ2_K)}},
    {DType::q3_k, "q3_k", {256, sizeof(BlockQ3_K)}},
    {DType::q4_k, "q4_k", {256, sizeof(BlockQ4_K)}},
    {DType::q5_k, "q5_k", {256, sizeof(BlockQ5_K)}},
    {DType::q6_k, "q6_k", {256, sizeof(BlockQ6_K)}},
    {DType::iq4_nl, "iq4_nl", {32, sizeof(BlockIQ4_NL)}},
    {DType::iq4_xs, "iq4_xs", {256, sizeof(BlockIQ4_XS)}},
    {DType::gguf_mxfp4, "gguf_mxfp4", {32, sizeof(BlockMXFP4)}},
};

constexpr bool rows_follow_the_enum() {
  for (size_t i = 0; i < std::size(types); ++i) {
    if (static_cast<size_t>(types[i].type) != i) return false;
  }
  return true;
}
static_assert(rows_follow_the_enum());
static_assert(std::size(types) == static_cast<size_t>(DType::gguf_mxfp4) + 1);

}  // namespace

const char* name_of(DType type) { return types[static_cast<size_t>(type)].name; }

BlockSize block_size(DType type) { return types[static_cast<size_t>(type)].block; }

std::optional<size_t> tensor_bytes(DType type, std::span<const int64_t> shape) {
  const BlockSize block = block_size(type);
  if (block.elements == 0) return std::nullopt;
  int64_t elements = 1;
  int64_t bytes = block.bytes;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t count = shape[i];
    if (count < 0 || __builtin_mul_overflow(elements, count, &elements)) return std::nullopt;
    if (i + 1 == shape.size()) {
      if (count % block.elements != 0) return std::nullopt;
      count /= block.elements;
    }
    if (__builtin_mul_overflow(bytes, count, &bytes)) return std::nullopt;
  }
  if (shape.empty() && block.elements != 1) return std::nullopt;
  return static_cast<size_t>(bytes);
}

size_t stored_bytes(const WeightView& view) {
  if (block_size(view.type).elements != 0) return view.data_bytes;
  const auto groups = static_cast<size_t>(view.elements() / view.affine.group);
  const auto scale_bytes = static_cast<size_t>(block_size(view.affine.scale_type).bytes);
  return view.data_bytes + groups * scale_bytes * (view.type == DType::affine ? 2 : 1);
}

}  // namespace longhand
