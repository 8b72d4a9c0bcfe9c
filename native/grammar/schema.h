// A schema among other rules.
#pragma once

#include "formats/json.h"
#include "grammar/syntax.h"

namespace longhand::grammar {

// The rule that its texts are of. Throws as read_json_schema.
Rule add_json_schema(Syntax& syntax, Json schema);

}  // namespace longhand::grammar
