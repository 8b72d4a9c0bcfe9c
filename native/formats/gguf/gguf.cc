#include "formats/gguf/gguf.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "formats/blocks.h"
#include "formats/gguf/gguf_metadata.h"

namespace longhand {
namespace {

constexpr uint32_t magic = 0x46554747;  // "GGUF"
constexpr uint32_t max_dimensions = 4;
constexpr size_t max_name = 63;
// Experts that are not merged make tens of thousands of them.
constexpr uint64_t max_tensors = 200'000;
// Name length, dimensions, one size, type, offset.
constexpr uint64_t smallest_tensor = 8 + 4 + 8 + 4 + 8;

struct GgufType {
  uint32_t number;
  std::string_view name;
  std::optional<DType> type;
};
// Numbers that are absent were removed from ggml.
constexpr GgufType gguf_types[] = {
    {0, "F32", DType::f32},        {1, "F16", DType::f16},
    {2, "Q4_0", DType::q4_0},      {3, "Q4_1", DType::q4_1},
    {6, "Q5_0", DType::q5_0},      {7, "Q5_1", DType::q5_1},
    {8, "Q8_0", DType::q8_0},      {9, "Q8_1", std::nullopt},
    {10, "Q2_K", DType::q2_k},     {11, "Q3_K", DType::q3_k},
    {12, "Q4_K", DType::q4_k},     {13, "Q5_K", DType::q5_k},
    {14, "Q6_K", DType::q6_k},     {15, "Q8_K", std::nullopt},
    {16, "IQ2_XXS", std::nullopt}, {17, "IQ2_XS", std::nullopt},
    {18, "IQ3_XXS", std::nullopt}, {19, "IQ1_S", std::nullopt},
    {20, "IQ4_NL", DType::iq4_nl}, {21, "IQ3_S", std::nullopt},
    {22, "IQ2_S", std::nullopt},   {23, "IQ4_XS", DType::iq4_xs},
    {24, "I8", DType::i8},         {25, "I16", DType::i16},
    {26, "I32", DType::i32},       {27, "I64", DType::i64},
    {28, "F64", DType::f64},       {29, "IQ1_M", std::nullopt},
    {30, "BF16", DType::bf16},     {34, "TQ1_0", std::nullopt},
    {35, "TQ2_0", std::nullopt},   {39, "MXFP4", DType::gguf_mxfp4},
    {40, "NVFP4", std::nullopt},
};

std::string allowed_types() {
  std::string result;
  for (const GgufType& row : gguf_types) {
    if (row.type) (result += result.empty() ? "" : ", ") += row.name;
  }
  return result;
}

class GgufReader {
 public:
  GgufReader(std::span<const std::byte> bytes, const std::string& name, int file) : cursor_(bytes, name), file_(file) {}

  GgufFile read() {
    check_version();
    const auto tensor_count = cursor_.take<uint64_t>("the tensor count");
    const auto key_count = cursor_.take<uint64_t>("the number of metadata keys");
    if (tensor_count > cursor_.remaining() / smallest_tensor)
      cursor_.fail(std::to_string(tensor_count) + " tensors are declared, the file has only " +
                   std::to_string(cursor_.remaining()) + " more bytes");
    if (tensor_count > max_tensors)
      cursor_.fail(std::to_string(tensor_count) + " tensors are declared, at most " + std::to_string(max_tensors) +
                   " are allowed");
    GgufMetadata metadata = read_gguf_metadata(cursor_, key_count);
    alignment_ = metadata.alignment;
    GgufFile result;
    result.metadata = Json(std::move(metadata.values));
    result.lists = std::move(metadata.lists);
    const Json* architecture = result.metadata.find("general.architecture");
    if (architecture == nullptr || architecture->string() == nullptr)
      cursor_.fail("the key \"general.architecture\" (a string) is missing");
    for (uint64_t i = 0; i < tensor_count; ++i) result.tensors.push_back(tensor());
    place(result.tensors);
    return result;
  }

 private:
  [[noreturn]] void fail_tensor(std::string_view name, const std::string& what) const {
    cursor_.fail("tensor \"" + printable(name) + "\" " + what);
  }

  void check_version() {
    if (cursor_.remaining() < 4 || cursor_.take<uint32_t>("the magic") != magic)
      cursor_.fail("the file does not begin with \"GGUF\"");
    const auto version = cursor_.take<uint32_t>("the version");
    if (version == 0x02000000 || version == 0x03000000)
      cursor_.fail("the file is big-endian; little-endian files are allowed");
    if (version != 2 && version != 3)
      cursor_.fail("version " + std::to_string(version) + "; versions 2 and 3 are allowed");
  }

  WeightView tensor() {
    const std::string_view name = cursor_.string("a tensor name");
    if (name.empty() || name.size() > max_name)
      fail_tensor(name,
                  "has a name of " + std::to_string(name.size()) + " bytes, expected 1 to " + std::to_string(max_name));
    if (!is_utf8(name)) fail_tensor(name, "has a name that is not UTF-8");
    if (!names_.insert(name).second) fail_tensor(name, "appears twice");
    WeightView view;
    view.name = name;
    view.file = file_;
    view.shape = shape(name);
    view.type = type(name);
    const int block = block_size(view.type).elements;
    if (view.shape.back() % block != 0)
      fail_tensor(name, "has rows of " + std::to_string(view.shape.back()) +
                            " elements, which is not a whole number of blocks of " + std::to_string(block));
    const std::optional<size_t> bytes = tensor_bytes(view.type, view.shape);
    if (!bytes) fail_tensor(name, "has more elements than 63 bits can count");
    view.data_bytes = *bytes;
    offsets_.push_back(cursor_.take<uint64_t>("a tensor's offset"));
    if (offsets_.back() % alignment_ != 0)
      fail_tensor(name, "begins at byte " + std::to_string(offsets_.back()) +
                            " of the data, which is not a multiple of the alignment " + std::to_string(alignment_));
    return view;
  }

  std::vector<int64_t> shape(std::string_view name) {
    const auto dimensions = cursor_.take<uint32_t>("the number of dimensions");
    if (dimensions < 1 || dimensions > max_dimensions)
      fail_tensor(name,
                  "has " + std::to_string(dimensions) + " dimensions, expected 1 to " + std::to_string(max_dimensions));
    std::vector<int64_t> result;
    for (uint32_t i = 0; i < dimensions; ++i) {
      const auto size = cursor_.take<uint64_t>("a dimension");
      if (size < 1 || size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        fail_tensor(name, "has a dimension of " + std::to_string(size) + ", expected 1 to 2^63 - 1");
      result.push_back(static_cast<int64_t>(size));
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  DType type(std::string_view name) {
    const auto number = cursor_.take<uint32_t>("a tensor's type");
    const auto* row = std::find_if(std::begin(gguf_types), std::end(gguf_types),
                                   [&](const GgufType& r) { return r.number == number; });
    const bool known = row != std::end(gguf_types);
    if (known && row->type) return *row->type;
    fail_tensor(name, "has the type " + (known ? std::string(row->name) : std::to_string(number)) +
                          "; allowed: " + allowed_types());
  }

  // Turns offsets into addresses; every tensor lies inside the file and no two share a byte.
  void place(std::vector<WeightView>& tensors) const {
    const std::span<const std::byte> bytes = cursor_.bytes();
    const uint64_t start = (static_cast<uint64_t>(cursor_.position()) + alignment_ - 1) / alignment_ * alignment_;
    const uint64_t available = start > bytes.size() ? 0 : bytes.size() - start;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (offsets_[i] > available || tensors[i].data_bytes > available - offsets_[i])
        fail_tensor(tensors[i].name, "needs " + std::to_string(tensors[i].data_bytes) + " bytes from byte " +
                                         std::to_string(offsets_[i]) + " of the data, the file has " +
                                         std::to_string(available));
      tensors[i].data = bytes.data() + start + offsets_[i];
    }
    std::vector<const WeightView*> sorted;
    for (const WeightView& view : tensors) sorted.push_back(&view);
    std::sort(sorted.begin(), sorted.end(), [](const WeightView* a, const WeightView* b) { return a->data < b->data; });
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i - 1]->data + sorted[i - 1]->data_bytes > sorted[i]->data)
        fail_tensor(sorted[i]->name, "overlaps \"" + printable(sorted[i - 1]->name) + "\"");
    }
  }

  GgufCursor cursor_;
  int file_;
  uint32_t alignment_ = 32;
  std::vector<uint64_t> offsets_;
  std::unordered_set<std::string_view> names_;
};

}  // namespace

GgufFile read_gguf(std::span<const std::byte> bytes, const std::string& name, int file) {
  return GgufReader(bytes, name, file).read();
}

std::vector<std::string> read_strings(const StringList& list) {
  std::vector<std::string> result;
  result.reserve(list.count);
  const std::byte* at = list.first;
  for (uint64_t i = 0; i < list.count; ++i) {
    const auto length = load<uint64_t>(at);
    result.emplace_back(reinterpret_cast<const char*>(at + 8), length);
    at += 8 + length;
  }
  return result;
}

std::optional<DType> gguf_type(std::string_view name) {
  for (const GgufType& row : gguf_types) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace longhand
