// Whether alternatives of `oneOf` exclude each other.
#pragma once

#include <string>

#include "formats/json.h"

namespace longhand::grammar {

// Throws std::invalid_argument naming two of `options` that a text might fit both of. They stand at `where` of
// `document`.
void demand_apart(const Json& document, const JsonArray& options, const std::string& where);

}  // namespace longhand::grammar
