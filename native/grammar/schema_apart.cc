#include "grammar/schema_apart.h"

#include <algorithm>
#include <optional>

#include "grammar/schema_merge.h"
#include "grammar/schema_pointer.h"
#include "grammar/schema_words.h"

namespace longhand::grammar {

namespace {

JsonArray merged_types(const Json& a, const Json& b) {
  const Json both = merged(Json(JsonObject{{"type", a}}), Json(JsonObject{{"type", b}}), "");
  const Json* type = both.find("type");
  return type && type->array() ? *type->array() : JsonArray{*type};
}

// What all texts of a schema share: its types, or the constants of its required members.
bool apart(const Json& document, const Json& a, const Json& b, const std::string& where) {
  const Json &first = followed(document, a, where), &second = followed(document, b, where);
  const auto types = [](const Json& one) { return one.find("type"); };
  if (types(first) && types(second) && merged_types(*types(first), *types(second)).empty()) return true;
  const auto values = [](const Json& one) -> std::optional<JsonArray> {
    if (const Json* value = one.find("const")) return JsonArray{*value};
    if (const Json* list = one.find("enum"); list && list->array()) return *list->array();
    return std::nullopt;
  };
  const auto disjoint = [&](const Json& x, const Json& y) {
    const auto these = values(x), those = values(y);
    return these && those && std::ranges::none_of(*these, [&](const Json& value) {
             return std::ranges::any_of(*those, [&](const Json& other) { return same_json(value, other); });
           });
  };
  if (disjoint(first, second)) return true;
  const Json *mine = first.find("properties"), *theirs = second.find("properties");
  if (!mine || !theirs || !mine->object()) return false;
  return std::ranges::any_of(*mine->object(), [&](const auto& member) {
    const Json* other = theirs->find(member.first);
    return other && required_names(first, where).contains(member.first) &&
           required_names(second, where).contains(member.first) && disjoint(member.second, *other);
  });
}

}  // namespace

void demand_apart(const Json& document, const JsonArray& options, const std::string& where) {
  for (size_t i = 0; i < options.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (!apart(document, options[k], options[i], where))
        refuse_schema(where + "/oneOf/" + std::to_string(i),
                      "not told apart from /oneOf/" + std::to_string(k) + " by its type or by a constant member",
                      "anyOf, or alternatives that exclude each other");
}

}  // namespace longhand::grammar
