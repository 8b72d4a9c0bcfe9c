#include "formats/gguf/gguf_metadata.h"

#include <bit>
#include <limits>
#include <unordered_set>

namespace longhand {
namespace {

enum ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

constexpr uint64_t max_keys = 65536;
constexpr size_t max_key = 65535;
constexpr int max_nesting = 4;
// Lists become Json values of 40 bytes: tokens, types and merges of the largest vocabularies (840,000) fit twice over.
constexpr uint64_t max_elements = 2'000'000;
// Vocabularies have a few MB, a whole tokenizer.json among the keys up to 33 (Gemma 3).
constexpr uint64_t max_text = uint64_t{64} << 20;
constexpr uint64_t long_list = 1024;
// Shortest form of one pair: key length, type, one byte.
constexpr uint64_t smallest_pair = 8 + 4 + 1;

class MetadataReader {
 public:
  explicit MetadataReader(GgufCursor& cursor) : cursor_(cursor) {}

  GgufMetadata read(uint64_t count) {
    GgufMetadata result;
    if (count > cursor_.remaining() / smallest_pair)
      cursor_.fail(std::to_string(count) + " metadata keys are declared, the file has only " +
                   std::to_string(cursor_.remaining()) + " more bytes");
    if (count > max_keys)
      cursor_.fail(std::to_string(count) + " metadata keys are declared, at most " + std::to_string(max_keys) +
                   " are allowed");
    std::unordered_set<std::string_view> keys;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view key = read_key();
      if (!keys.insert(key).second) fail("appears twice");
      const auto type = cursor_.take<uint32_t>("a value type");
      if (key_ == "general.alignment" && type != u32) fail("must be of type u32");
      if (type == array && is_long_list()) {
        result.lists.push_back(skip_strings());
        continue;
      }
      Json read = value(type, 0);
      if (key_ == "general.alignment") result.alignment = alignment(read);
      result.values.emplace_back(key_, std::move(read));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { cursor_.fail("the key \"" + printable(key_) + "\" " + what); }

  std::string_view read_key() {
    const std::string_view key = cursor_.string("a key");
    key_ = key;
    if (key.empty()) cursor_.fail("a key is empty");
    if (key.size() > max_key)
      fail("has " + std::to_string(key.size()) + " bytes, at most " + std::to_string(max_key) + " are allowed");
    if (!is_utf8(key)) fail("is not UTF-8");
    return key;
  }

  uint32_t alignment(const Json& read) const {
    const int64_t declared = *read.integer();
    if (!std::has_single_bit(static_cast<uint64_t>(declared)))
      fail("is " + std::to_string(declared) + ", expected a power of two");
    return static_cast<uint32_t>(declared);
  }

  Json value(uint32_t type, int depth) {
    switch (type) {
      case u8: return integer<uint8_t>();
      case i8: return integer<int8_t>();
      case u16: return integer<uint16_t>();
      case i16: return integer<int16_t>();
      case u32: return integer<uint32_t>();
      case i32: return integer<int32_t>();
      case i64: return integer<int64_t>();
      case u64: return unsigned_value(cursor_.take<uint64_t>("a value"));
      case f32: return Json(static_cast<double>(cursor_.take<float>("a value")));
      case f64: return Json(cursor_.take<double>("a value"));
      case boolean: return truth(cursor_.take<uint8_t>("a value"));
      case string: return Json(repair_utf8(text("a string value")));
      case array: return list(depth);
      default: fail("has the value type " + std::to_string(type) + ", expected 0 to 12");
    }
  }

  std::string_view text(const char* what) {
    const std::string_view read = cursor_.string(what);
    if (read.size() > max_text - text_)
      fail("has too much text: " + std::to_string(max_text) + " bytes are allowed in all strings together");
    text_ += read.size();
    return read;
  }

  template <class T>
  Json integer() {
    return Json(static_cast<int64_t>(cursor_.take<T>("a value")));
  }
  static Json unsigned_value(uint64_t number) {
    if (number <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Json(static_cast<int64_t>(number));
    return Json(static_cast<double>(number));
  }
  Json truth(uint8_t byte) const {
    if (byte > 1) fail("is a bool with the value " + std::to_string(byte) + ", expected 0 or 1");
    return Json(byte == 1);
  }

  // Smallest encoding of one element.
  uint64_t element_bytes(uint32_t type) const {
    switch (type) {
      case u8:
      case i8:
      case boolean: return 1;
      case u16:
      case i16: return 2;
      case u32:
      case i32:
      case f32: return 4;
      case u64:
      case i64:
      case f64:
      case string: return 8;
      case array: return 12;
      default: fail("is an array of the value type " + std::to_string(type) + ", expected 0 to 12");
    }
  }

  // Header of an array: element type and count, checked against the bytes that are left and against all arrays so far.
  std::pair<uint32_t, uint64_t> list_header() {
    const auto type = cursor_.take<uint32_t>("an array's type");
    const auto count = cursor_.take<uint64_t>("an array's length");
    if (count > cursor_.remaining() / element_bytes(type))
      fail("declares " + std::to_string(count) + " elements, the file has only " + std::to_string(cursor_.remaining()) +
           " more bytes");
    if (count > max_elements - elements_)
      fail("has too many elements: " + std::to_string(max_elements) + " are allowed in all arrays together");
    elements_ += count;
    return {type, count};
  }

  Json list(int depth) {
    if (depth >= max_nesting) fail("has arrays nested deeper than " + std::to_string(max_nesting) + " levels");
    const auto [type, count] = list_header();
    JsonArray result;
    result.reserve(count);
    for (uint64_t i = 0; i < count; ++i) result.push_back(value(type, depth + 1));
    return Json(std::move(result));
  }

  bool is_long_list() const {
    GgufCursor ahead = cursor_;
    return ahead.take<uint32_t>("an array's type") == string && ahead.take<uint64_t>("an array's length") > long_list;
  }
  StringList skip_strings() {
    const uint64_t count = list_header().second;
    const StringList result{key_, cursor_.here(), count};
    for (uint64_t i = 0; i < count; ++i) text("a string in an array");
    return result;
  }

  GgufCursor& cursor_;
  std::string key_;
  uint64_t elements_ = 0, text_ = 0;
};

}  // namespace

GgufMetadata read_gguf_metadata(GgufCursor& cursor, uint64_t count) { return MetadataReader(cursor).read(count); }

}  // namespace longhand
