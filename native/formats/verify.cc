#include "formats/verify.h"

#include <cstddef>
#include <span>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

constexpr uint16_t f16_exponent = 0x7C00;
constexpr uint16_t bf16_exponent = 0x7F80;
constexpr size_t shown = 5;

// 16-bit floats every `stride` bytes: an exponent of ones is an infinity or NaN. Returns the index of the first, or
// none.
std::optional<size_t> first_half(const std::byte* from, size_t count, size_t stride, uint16_t exponent) {
  for (size_t i = 0; i < count; ++i) {
    if ((load<uint16_t>(from + i * stride) & exponent) == exponent) return i;
  }
  return std::nullopt;
}

template <class T>
std::optional<size_t> first_number(const std::byte* from, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(load<T>(from + i * sizeof(T)))) return i;
  }
  return std::nullopt;
}

// Bytes equal to `nan` once the sign is taken off by `mask`.
std::optional<size_t> first_byte(const std::byte* from, size_t count, size_t stride, uint8_t mask, uint8_t nan) {
  for (size_t i = 0; i < count; ++i) {
    if ((std::to_integer<uint8_t>(from[i * stride]) & mask) == nan) return i;
  }
  return std::nullopt;
}

std::optional<size_t> first_plain(DType type, const std::byte* from, size_t count) {
  switch (type) {
    case DType::f32: return first_number<float>(from, count);
    case DType::f64: return first_number<double>(from, count);
    case DType::f16: return first_half(from, count, 2, f16_exponent);
    case DType::bf16: return first_half(from, count, 2, bf16_exponent);
    default: return std::nullopt;
  }
}

// Offsets of the halves in a block; the second is -1 if there is only one.
struct HalfOffsets {
  int first = -1, second = -1;
};
HalfOffsets halves_of(DType type) {
  switch (type) {
    case DType::q4_0:
    case DType::q5_0:
    case DType::q8_0:
    case DType::iq4_nl:
    case DType::iq4_xs: return {0, -1};
    case DType::q4_1:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k: return {0, 2};
    case DType::q2_k: return {offsetof(BlockQ2_K, d), offsetof(BlockQ2_K, dmin)};
    case DType::q3_k: return {offsetof(BlockQ3_K, d), -1};
    case DType::q6_k: return {offsetof(BlockQ6_K, d), -1};
    default: return {};
  }
}

std::optional<std::string> bad_block(const WeightView& view) {
  const BlockSize block = block_size(view.type);
  const auto stride = static_cast<size_t>(block.bytes);
  const size_t count = view.data_bytes / stride;
  const auto sentence = [](size_t i) { return "the scale of block " + std::to_string(i) + " is not finite"; };
  if (view.type == DType::gguf_mxfp4) {
    if (const auto bad = first_byte(view.data, count, stride, 0xFF, 0xFF)) return sentence(*bad);
    return std::nullopt;
  }
  const HalfOffsets halves = halves_of(view.type);
  for (const int offset : {halves.first, halves.second}) {
    if (offset < 0) continue;
    if (const auto bad = first_half(view.data + offset, count, stride, f16_exponent)) return sentence(*bad);
  }
  return std::nullopt;
}

std::optional<std::string> bad_group(const WeightView& view, Verify what) {
  const GroupScales& a = view.affine;
  const auto groups = static_cast<size_t>(view.elements() / a.group);
  const auto sentence = [](const char* part, size_t i) {
    return std::string("the ") + part + " of group " + std::to_string(i) + " is not finite";
  };
  if (view.type == DType::affine) {
    if (const auto bad = first_plain(a.scale_type, a.scales, groups)) return sentence("scale", *bad);
    if (const auto bad = first_plain(a.scale_type, a.biases, groups)) return sentence("bias", *bad);
    return std::nullopt;
  }
  const bool e4m3 = view.type == DType::nvfp4;
  if (const auto bad = first_byte(a.scales, groups, 1, e4m3 ? 0x7F : 0xFF, e4m3 ? 0x7F : 0xFF))
    return sentence("scale", *bad);
  if (!std::isfinite(a.global_scale)) return std::string("the global scale is not finite");
  if (what == Verify::scales || view.type != DType::mxfp8) return std::nullopt;
  if (const auto bad = first_byte(view.data, view.data_bytes, 1, 0x7F, 0x7F))
    return "element " + std::to_string(*bad) + " is not a number";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_non_finite(const WeightView& view, Verify what) {
  if (view.data == nullptr) return std::nullopt;
  const BlockSize block = block_size(view.type);
  if (block.elements == 0) return bad_group(view, what);
  if (block.elements > 1) return bad_block(view);
  if (what == Verify::scales) return std::nullopt;
  const auto bad = first_plain(view.type, view.data, static_cast<size_t>(view.elements()));
  if (!bad) return std::nullopt;
  return "element " + std::to_string(*bad) + " is not finite";
}

void verify(const Checkpoint& checkpoint, Verify what, const std::function<bool(size_t, size_t)>& progress) {
  size_t total = 0;
  for (const WeightView& view : checkpoint.tensors()) total += view.data_bytes;
  size_t done = 0;
  size_t count = 0;
  std::string problems;
  for (const WeightView& view : checkpoint.tensors()) {
    if (const auto problem = find_non_finite(view, what); problem && ++count <= shown)
      (problems += count > 1 ? "; " : "") += "tensor \"" + printable(view.name) + "\": " + *problem;
    done += view.data_bytes;
    if (progress && !progress(done, total)) return;
  }
  if (count > shown) problems += "; and " + std::to_string(count - shown) + " more tensors";
  if (count > 0) throw FormatError("[weights] " + problems + "; the file is damaged");
}

}  // namespace longhand
