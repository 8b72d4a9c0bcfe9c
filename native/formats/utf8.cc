#include "formats/utf8.h"

#include <array>
#include <cstdint>

namespace longhand {
namespace {

bool continues(std::string_view text, size_t at, uint8_t low = 0x80, uint8_t high = 0xBF) {
  return at < text.size() && static_cast<uint8_t>(text[at]) >= low && static_cast<uint8_t>(text[at]) <= high;
}

// Bytes of the character at `at`; 0 when it is malformed (Unicode 15, table 3-7).
size_t character_length(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(text, at + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return continues(text, at + 1, low, high) && continues(text, at + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
    return continues(text, at + 1, low, high) && continues(text, at + 2) && continues(text, at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    repaired += text.substr(0, valid);
    text.remove_prefix(valid);
    if (text.empty()) break;
    repaired += "\xEF\xBF\xBD";
    text.remove_prefix(1);
  }
  return repaired;
}

std::string printable(std::string_view text) {
  constexpr size_t limit = 100;
  constexpr std::array<char, 16> digits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                           '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  const bool cut = text.size() > limit;
  std::string result;
  for (const char c : repair_utf8(text.substr(0, limit))) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte != 0x7F) result += c;
    else (result += "\\x") += {digits[byte >> 4], digits[byte & 15]};
  }
  return cut ? result + "..." : result;
}

}  // namespace longhand
