// Reads a GGUF header front to back; every read is checked against the end of the file first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/error.h"
#include "formats/numbers.h"
#include "formats/utf8.h"

namespace longhand {

class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError("[gguf] " + printable(name_) + ": " + what);
  }

  size_t position() const { return at_; }
  size_t remaining() const { return bytes_.size() - at_; }
  const std::byte* here() const { return bytes_.data() + at_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  template <class T>
  T take(const char* what) {
    need(sizeof(T), what);
    const T result = load<T>(here());
    at_ += sizeof(T);
    return result;
  }

  std::string_view string(const char* what) {
    const auto length = take<uint64_t>(what);
    need(length, what);
    const std::string_view result(reinterpret_cast<const char*>(here()), length);
    at_ += length;
    return result;
  }

 private:
  void need(uint64_t count, const char* what) const {
    if (count > remaining())
      fail(std::string(what) + " at byte " + std::to_string(at_) + " needs " + std::to_string(count) +
           " bytes, the file has " + std::to_string(remaining()) + " more");
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  size_t at_ = 0;
};

}  // namespace longhand
