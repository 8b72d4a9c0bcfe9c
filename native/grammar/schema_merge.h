// Merges schemas that must all hold (allOf) into one.
#pragma once

#include <string>

#include "formats/json.h"

namespace longhand::grammar {

// Throws std::invalid_argument where the two cannot be told as one. `where` is the place of `b`.
Json merged(const Json& a, const Json& b, const std::string& where);
[[noreturn]] void refuse_schema(const std::string& where, const std::string& came, const std::string& allowed);
bool same_json(const Json& a, const Json& b);

}  // namespace longhand::grammar
