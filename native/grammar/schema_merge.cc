#include "grammar/schema_merge.h"

#include <algorithm>
#include <stdexcept>

#include "formats/utf8.h"

namespace longhand::grammar {

namespace {

JsonArray as_list(const Json& value) { return value.array() ? *value.array() : JsonArray{value}; }

Json intersected(const Json& a, const Json& b) {
  JsonArray both;
  const JsonArray other = as_list(b);
  for (const Json& value : as_list(a)) {
    const auto has = [&](const char* name) {
      return std::ranges::any_of(other, [&](const Json& each) { return each.string() && *each.string() == name; });
    };
    const bool narrower = value.string() && *value.string() == "integer" && has("number");
    if (narrower || std::ranges::any_of(other, [&](const Json& each) { return same_json(each, value); }))
      both.push_back(value);
    else if (value.string() && *value.string() == "number" && has("integer"))
      both.push_back(Json{std::string("integer")});
  }
  return Json(both);
}

double as_number(const Json& value) {
  double storage = 0;
  const double* number = value.number(storage);
  return number ? *number : 0;
}

Json both_hold(const Json& a, const Json& b) { return Json(JsonObject{{"allOf", Json(JsonArray{a, b})}}); }

Json members(const Json& a, const Json& b) {
  if (!a.object() || !b.object()) return b;
  JsonObject out = *a.object();
  for (const auto& [key, value] : *b.object()) {
    const auto at = std::ranges::find(out, key, &JsonObject::value_type::first);
    if (at == out.end()) out.emplace_back(key, value);
    else at->second = both_hold(at->second, value);
  }
  return Json(out);
}

Json joined(const Json& a, const Json& b) {
  JsonArray out = as_list(a);
  for (const Json& value : as_list(b))
    if (std::ranges::none_of(out, [&](const Json& each) { return same_json(each, value); })) out.push_back(value);
  return Json(out);
}

bool is_one_of(const std::string& key, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return key == name; });
}

Json combined(const std::string& key, const Json& a, const Json& b, const std::string& where) {
  if (same_json(a, b) || is_one_of(key, {"title", "description", "default", "examples", "$comment", "$schema", "$id"}))
    return b;
  if (is_one_of(key, {"type", "enum"})) return intersected(a, b);
  if (key == "properties" || key == "$defs" || key == "definitions") return members(a, b);
  if (is_one_of(key, {"required", "allOf"})) return joined(a, b);
  if (is_one_of(key, {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}))
    return as_number(a) > as_number(b) ? a : b;
  if (is_one_of(key, {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}))
    return as_number(a) < as_number(b) ? a : b;
  if (key == "additionalProperties" || key == "items") {
    if (a.boolean()) return *a.boolean() ? b : a;
    if (b.boolean()) return *b.boolean() ? a : b;
    return both_hold(a, b);
  }
  refuse_schema(where + "/" + key, "another one than beside it in allOf", "one of them");
}

// The other schema's additionalProperties apply to members that only this one names.
Json with_additional(const Json& schema, const Json& other) {
  const Json *own = schema.find("properties"), *named = other.find("properties"),
             *rule = other.find("additionalProperties");
  if (!own || !own->object() || !rule) return schema;
  JsonObject properties = *own->object();
  for (auto& [name, value] : properties)
    if (!named || !named->find(name)) value = both_hold(value, *rule);
  JsonObject out = *schema.object();
  std::ranges::find(out, "properties", &JsonObject::value_type::first)->second = Json(properties);
  return Json(out);
}

}  // namespace

void refuse_schema(const std::string& where, const std::string& came, const std::string& allowed) {
  throw std::invalid_argument("[schema] " + where + " is " + came + ", expected " + allowed);
}

bool same_json(const Json& a, const Json& b) {
  if (a.array() && b.array())
    return std::ranges::equal(*a.array(), *b.array(), [](const Json& x, const Json& y) { return same_json(x, y); });
  if (a.object() && b.object()) {
    return a.object()->size() == b.object()->size() && std::ranges::all_of(*a.object(), [&](const auto& member) {
             const Json* other = b.find(member.first);
             return other && same_json(member.second, *other);
           });
  }
  double x = 0, y = 0;
  if (a.number(x) && b.number(y)) return as_number(a) == as_number(b);
  if (a.string() && b.string()) return *a.string() == *b.string();
  if (a.boolean() && b.boolean()) return *a.boolean() == *b.boolean();
  return a.is_null() && b.is_null();
}

Json merged(const Json& a, const Json& b, const std::string& where) {
  if (a.boolean()) return *a.boolean() ? b : a;
  if (b.boolean()) return *b.boolean() ? a : b;
  if (!a.object() || !b.object()) refuse_schema(where, "not a schema", "an object or a boolean");
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (one->find("prefixItems") && !other->find("prefixItems") && other->find("items"))
      refuse_schema(where, "a list of items beside a rule for all items in allOf", "one of them");
  const Json first = with_additional(a, b), second = with_additional(b, a);
  JsonObject out = *first.object();
  for (const auto& [key, value] : *second.object()) {
    const auto at = std::ranges::find(out, key, &JsonObject::value_type::first);
    if (at == out.end()) out.emplace_back(key, value);
    else at->second = combined(key, at->second, value, where);
  }
  return Json(out);
}

}  // namespace longhand::grammar
