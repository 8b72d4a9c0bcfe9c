// The name of a boundary: a hash of all tokens before it and of the cuts between them.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>

#include "formats/hash.h"

namespace longhand {

struct EntryName {
  uint64_t high = 0, low = 0;
  auto operator<=>(const EntryName&) const = default;

  // The name of the boundary after these tokens.
  EntryName then(std::span<const int32_t> tokens) const {
    const std::span<const std::byte> bytes = std::as_bytes(tokens);
    return {xxh64(bytes, high), xxh64(bytes, low ^ xxh::p3)};
  }
  std::string text() const {
    constexpr char digits[] = "0123456789abcdef";
    std::string out(32, '0');
    for (size_t i = 0; i < 16; ++i) {
      out[15 - i] = digits[high >> (4 * i) & 15];
      out[31 - i] = digits[low >> (4 * i) & 15];
    }
    return out;
  }
};

}  // namespace longhand
