#include "grammar/schema_words.h"

#include <algorithm>
#include <cmath>

#include "formats/utf8.h"
#include "grammar/limits.h"
#include "grammar/read.h"
#include "grammar/schema_merge.h"

namespace longhand::grammar {

Json without(const Json& schema, std::string_view key) {
  JsonObject rest = *schema.object();
  std::erase_if(rest, [&](const auto& member) { return member.first == key; });
  return Json(rest);
}

bool says_nothing(const Json& schema) {
  return std::ranges::all_of(*schema.object(), [](const auto& member) {
    constexpr const char* silent[] = {"title", "description", "default",    "examples", "$comment",  "$schema", "$id",
                                      "$defs", "definitions", "deprecated", "readOnly", "writeOnly", "$anchor"};
    return std::ranges::any_of(silent, [&](const char* key) { return member.first == key; });
  });
}

bool is_type(const Json& value, const Json& types) {
  double storage = 0;
  const double* number = value.number(storage);
  const auto is = [&](const Json& type) {
    const std::string name = type.string() ? *type.string() : "";
    return (name == "string" && value.string()) || (name == "number" && number) ||
           (name == "boolean" && value.boolean()) || (name == "integer" && number && std::floor(*number) == *number) ||
           (name == "null" && value.is_null()) || (name == "object" && value.object()) ||
           (name == "array" && value.array());
  };
  return types.array() ? std::ranges::any_of(*types.array(), is) : is(types);
}

int32_t count_of(const Json& schema, const char* key, int32_t fallback, const std::string& where) {
  const Json* value = schema.find(key);
  if (!value) return fallback;
  double storage = 0;
  const double* number = value->number(storage);
  if (!number || *number < 0 || *number > max_count || std::floor(*number) != *number)
    refuse_schema(where + "/" + key, "not a count", "a whole number up to " + std::to_string(max_count));
  return static_cast<int32_t>(*number);
}

std::set<std::string> required_names(const Json& schema, const std::string& where) {
  std::set<std::string> names;
  const Json* list = schema.find("required");
  if (list && !list->array()) refuse_schema(where + "/required", "not a list", "a list of names");
  for (const Json& name : list ? *list->array() : JsonArray{}) {
    if (!name.string()) refuse_schema(where + "/required", "a list with something else than names", "a list of names");
    names.insert(*name.string());
  }
  return names;
}

}  // namespace longhand::grammar
