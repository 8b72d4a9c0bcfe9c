// UTF-8 as the Unicode standard defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string>
#include <string_view>

namespace longhand {

// Length of the longest well-formed prefix; equal to text.size() when all of it is UTF-8.
size_t valid_utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }
// Bytes that are not UTF-8 become U+FFFD, one each.
std::string repair_utf8(std::string_view text);
// A name for an error message: repaired, control characters as \xNN, cut after 100 bytes.
std::string printable(std::string_view text);

}  // namespace longhand
