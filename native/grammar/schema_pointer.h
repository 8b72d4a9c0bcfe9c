// Places within a schema: "#/$defs/name" (RFC 6901, in a fragment).
#pragma once

#include <string>

#include "formats/json.h"

namespace longhand::grammar {

// Throws std::invalid_argument naming `where` for what is no place in it.
const Json& schema_at(const Json& document, const std::string& pointer, const std::string& where);
// What a schema refers to, or itself.
const Json& followed(const Json& document, const Json& schema, const std::string& where);

}  // namespace longhand::grammar
