// The building blocks of JSON text.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/json.h"
#include "grammar/syntax.h"

namespace longhand::grammar {

// Rules shared by all schemas, each created on first use.
class JsonText {
 public:
  explicit JsonText(Syntax& syntax) : syntax_(syntax) {}

  Expr blank();  // between the parts of a value: a space, or a line break with spaces; never without end
  Expr character();
  Expr string();  // any
  Expr string(int32_t least, int32_t most);
  // A string other than these, in the canonical form without optional escapes.
  Expr string_but(const std::vector<std::string>& excluded);
  Expr value();  // any
  Expr object();
  Expr array();
  Expr constant(const Json& value);
  Expr quoted(Expr inner);
  Expr quoted(std::string_view text);
  Expr integer();
  Expr number();
  // `decimals`: digits behind the point at most. Bounds that are absent are those of what a double holds exactly.
  Expr number_between(std::optional<double> least, std::optional<double> most, bool above, bool below, int decimals);

 private:
  Expr once(Rule& rule, const char* name, Expr (JsonText::*body)());
  Expr blank_body();
  Expr character_body();
  Expr plain_character_body();
  Expr string_body();
  Expr value_body();
  Expr object_body();
  Expr array_body();
  Expr scaled_between(int64_t least, int64_t most, int decimals);
  Expr digits_between(const std::string& least, const std::string& most, size_t point);

  Syntax& syntax_;
  Rule blank_ = -1, character_ = -1, plain_ = -1, string_ = -1, value_ = -1, object_ = -1, array_ = -1;
};

// As JSON.stringify writes it.
std::string json_string(std::string_view text);

}  // namespace longhand::grammar
