// Readers of the notations for grammars.
#pragma once

#include <string_view>

#include "grammar/syntax.h"

namespace longhand::grammar {

// JSON Schema, draft 2020-12: the subset that json_schema.cc names at its top. Throws std::invalid_argument with where
// in the schema, what came and what is allowed.
Syntax read_json_schema(std::string_view text);
// A regular expression that the whole text matches.
Syntax read_regex(std::string_view pattern);
// https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md, begun at the rule "root".
Syntax read_gbnf(std::string_view text);
// JSON: a text, a list of parts that follow each other, or {control: token}, {regex}, {schema}, {choice: parts},
// {optional: part}.
Syntax read_parts(std::string_view text);

}  // namespace longhand::grammar
