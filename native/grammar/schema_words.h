// Reading single keywords of a schema.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace longhand::grammar {

Json without(const Json& schema, std::string_view key);
// Whether the schema constrains nothing.
bool says_nothing(const Json& schema);
// `types`: one name or a list of them.
bool is_type(const Json& value, const Json& types);
// Throws std::invalid_argument naming `where`, as the next.
int32_t count_of(const Json& schema, const char* key, int32_t fallback, const std::string& where);
std::set<std::string> required_names(const Json& schema, const std::string& where);

}  // namespace longhand::grammar
