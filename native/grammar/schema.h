// Adds a JSON schema to other rules.
#pragma once

#include "formats/json.h"
#include "grammar/syntax.h"

namespace longhand::grammar {

// The rule for texts of the schema. Throws as read_json_schema.
Rule add_json_schema(Syntax& syntax, Json schema);

}  // namespace longhand::grammar
