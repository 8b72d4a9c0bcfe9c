// Regular expressions in ECMAScript's notation, as far as they are regular: no lookaround, no backreferences.
#pragma once

#include <string_view>

#include "grammar/syntax.h"

namespace longhand::grammar {

// How characters stand in the text: as they are, or as in a string of JSON, where some are escaped.
enum class Writing : uint8_t { plain, json };

// One character of the set.
Expr written(Syntax& syntax, const CodeSet& set, Writing writing);
// `searched`: it may match a part; ^ and $ bind it to an end. Errors begin with `where`.
Expr regex(Syntax& syntax, std::string_view pattern, Writing writing, bool searched, const std::string& where);

// The code point that begins at `at`, which moves behind it. The text is UTF-8.
uint32_t next_code(std::string_view text, size_t& at);

}  // namespace longhand::grammar
