#include "formats/safetensors.h"

#include <algorithm>
#include <tuple>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

// The same limit as the reference implementation.
constexpr uint64_t max_header = 100'000'000;
constexpr size_t max_dimensions = 8;

struct TypeName {
  std::string_view name;
  DType type;
};
// F8_E8M0 is used for scales only: its bytes are not converted.
constexpr TypeName type_names[] = {
    {"F64", DType::f64},         {"F32", DType::f32},         {"F16", DType::f16},      {"BF16", DType::bf16},
    {"F8_E4M3", DType::f8_e4m3}, {"I64", DType::i64},         {"I32", DType::i32},      {"I16", DType::i16},
    {"I8", DType::i8},           {"F8_E5M2", DType::f8_e5m2}, {"U64", DType::u64},      {"U32", DType::u32},
    {"U16", DType::u16},         {"U8", DType::u8},           {"BOOL", DType::boolean}, {"F8_E8M0", DType::u8},
};

class SafetensorsReader {
 public:
  SafetensorsReader(std::span<const std::byte> bytes, const std::string& name, int file)
      : bytes_(bytes), name_(name), file_(file) {}

  SafetensorsFile read() {
    const std::string_view text = header();
    const Json json = Json::parse(text, "safetensors", "the header of " + printable(name_));
    if (json.object() == nullptr) fail("the header is not a JSON object");
    SafetensorsFile result;
    for (const auto& [key, value] : *json.object()) {
      if (key == "__metadata__") result.format = format_of(value);
      else result.tensors.push_back(tensor(key, value));
    }
    const auto by_offset = [](const WeightView& a, const WeightView& b) {
      return std::tie(a.data, a.data_bytes, a.name) < std::tie(b.data, b.data_bytes, b.name);
    };
    std::sort(result.tensors.begin(), result.tensors.end(), by_offset);
    check_coverage(result.tensors);
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError("[safetensors] " + printable(name_) + ": " + what);
  }
  [[noreturn]] void fail_tensor(const std::string& tensor, const std::string& what) const {
    fail("tensor \"" + printable(tensor) + "\" " + what);
  }

  std::string_view header() {
    if (bytes_.size() < 8)
      fail("the file has " + std::to_string(bytes_.size()) +
           " bytes, a safetensors file begins with an 8-byte header length");
    const auto length = load<uint64_t>(bytes_.data());
    if (length > max_header)
      fail("a header of " + std::to_string(length) + " bytes is declared, at most " + std::to_string(max_header) +
           " are allowed");
    if (length > bytes_.size() - 8)
      fail("a header of " + std::to_string(length) + " bytes is declared, the file has " +
           std::to_string(bytes_.size()) + " bytes");
    data_ = bytes_.subspan(8 + length);
    return {reinterpret_cast<const char*>(bytes_.data()) + 8, length};
  }

  std::string format_of(const Json& metadata) const {
    if (metadata.object() == nullptr) fail("__metadata__ is not an object of strings");
    for (const auto& [key, value] : *metadata.object()) {
      if (value.string() == nullptr) fail("__metadata__ \"" + printable(key) + "\" is not a string");
    }
    const Json* format = metadata.find("format");
    return format == nullptr ? "" : *format->string();
  }

  WeightView tensor(const std::string& name, const Json& entry) const {
    if (entry.object() == nullptr) fail_tensor(name, "is not described by an object");
    WeightView view;
    view.name = name;
    view.file = file_;
    view.type = type(name, entry.find("dtype"));
    view.shape = integers(name, "shape", entry.find("shape"));
    if (view.shape.size() > max_dimensions)
      fail_tensor(name, "has " + std::to_string(view.shape.size()) + " dimensions, at most " +
                            std::to_string(max_dimensions) + " are allowed");
    const std::vector<int64_t> range = integers(name, "data_offsets", entry.find("data_offsets"));
    if (range.size() != 2)
      fail_tensor(name, "has " + std::to_string(range.size()) + " data_offsets, begin and end are needed");
    if (range[0] > range[1])
      fail_tensor(name, "begins at byte " + std::to_string(range[0]) + ", after its end " + std::to_string(range[1]));
    if (static_cast<size_t>(range[1]) > data_.size())
      fail_tensor(name, "ends at byte " + std::to_string(range[1]) + ", the file has " + std::to_string(data_.size()) +
                            " bytes of data");
    view.data = data_.data() + range[0];
    view.data_bytes = static_cast<size_t>(range[1] - range[0]);
    const std::optional<size_t> needed = tensor_bytes(view.type, view.shape);
    if (!needed) fail_tensor(name, "has a shape with more elements than 63 bits can count");
    if (*needed != view.data_bytes)
      fail_tensor(name, "has " + std::to_string(view.data_bytes) + " bytes, its type and shape need " +
                            std::to_string(*needed));
    return view;
  }

  DType type(const std::string& name, const Json* entry) const {
    if (entry == nullptr || entry->string() == nullptr) fail_tensor(name, "has no dtype");
    const std::optional<DType> found = safetensors_type(*entry->string());
    if (found) return *found;
    std::string allowed;
    for (const TypeName& row : type_names) (allowed += allowed.empty() ? "" : ", ") += row.name;
    fail_tensor(name, "has the dtype \"" + printable(*entry->string()) + "\"; allowed: " + allowed);
  }

  std::vector<int64_t> integers(const std::string& name, const char* key, const Json* entry) const {
    if (entry == nullptr || entry->array() == nullptr) fail_tensor(name, std::string("has no list \"") + key + "\"");
    std::vector<int64_t> result;
    for (const Json& item : *entry->array()) {
      const int64_t* number = item.integer();
      if (number == nullptr || *number < 0)
        fail_tensor(name,
                    std::string("has in \"") + key + "\" something that is not a whole number from 0 to 2^63 - 1");
      result.push_back(*number);
    }
    return result;
  }

  // Every byte of the data belongs to exactly one tensor.
  void check_coverage(const std::vector<WeightView>& sorted) const {
    size_t covered = 0;
    for (const WeightView& view : sorted) {
      const auto begin = static_cast<size_t>(view.data - data_.data());
      if (begin < covered) fail_tensor(view.name, "overlaps the tensor before it (byte " + std::to_string(begin) + ")");
      if (begin > covered)
        fail_tensor(view.name, "leaves a gap before it: bytes " + std::to_string(covered) + " to " +
                                   std::to_string(begin) + " belong to no tensor");
      covered = begin + view.data_bytes;
    }
    if (covered != data_.size())
      fail(std::to_string(data_.size() - covered) + " bytes after the last tensor belong to no tensor");
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  int file_;
  std::span<const std::byte> data_;
};

}  // namespace

SafetensorsFile read_safetensors(std::span<const std::byte> bytes, const std::string& name, int file) {
  return SafetensorsReader(bytes, name, file).read();
}

std::optional<DType> safetensors_type(std::string_view name) {
  for (const TypeName& row : type_names) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace longhand
