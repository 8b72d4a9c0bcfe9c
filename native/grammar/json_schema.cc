// JSON Schema, draft 2020-12, as rules. Generated text is always valid, but not every valid text can be generated:
//   type, enum, const, anyOf, oneOf (whose parts exclude each other), allOf, $ref within the schema, $defs;
//   properties (in their order), required, additionalProperties (none unless it is told, where there are properties),
//   one patternProperties alone, minProperties up to 1, maxProperties; items, prefixItems, minItems, maxItems;
//   minLength, maxLength, pattern, format (schema_formats.h); minimum, maximum and their exclusive forms; annotations.
// Other constraining keywords are refused, never ignored.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "formats/error.h"
#include "formats/utf8.h"
#include "grammar/json_text.h"
#include "grammar/limits.h"
#include "grammar/read.h"
#include "grammar/regex.h"
#include "grammar/schema.h"
#include "grammar/schema_apart.h"
#include "grammar/schema_formats.h"
#include "grammar/schema_merge.h"
#include "grammar/schema_pointer.h"
#include "grammar/schema_words.h"

namespace longhand::grammar {

namespace {

constexpr const char* refused[] = {"not",
                                   "if",
                                   "then",
                                   "else",
                                   "dependentSchemas",
                                   "dependentRequired",
                                   "dependencies",
                                   "unevaluatedItems",
                                   "unevaluatedProperties",
                                   "contains",
                                   "minContains",
                                   "maxContains",
                                   "propertyNames",
                                   "uniqueItems",
                                   "multipleOf",
                                   "$dynamicRef",
                                   "$recursiveRef",
                                   "additionalItems"};
constexpr const char* of_objects[] = {"properties",        "required",      "additionalProperties",
                                      "patternProperties", "minProperties", "maxProperties"};
constexpr const char* of_arrays[] = {"items", "prefixItems", "minItems", "maxItems"};
constexpr const char* of_strings[] = {"minLength", "maxLength", "pattern", "format"};
constexpr const char* of_numbers[] = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};

class SchemaReader {
 public:
  SchemaReader(Syntax& syntax, Json document) : document_(std::move(document)), syntax_(syntax), text_(syntax) {}

  Rule whole() {
    const Rule root = syntax_.declare("#");
    pointers_["#"] = root;
    syntax_.define(root, schema(document_, "#", 0));
    return root;
  }

 private:
  using Where = const std::string&;

  static bool has_any(const Json& schema, std::span<const char* const> keys) {
    return std::ranges::any_of(keys, [&](const char* key) { return schema.find(key) != nullptr; });
  }

  Expr schema(const Json& schema, Where where, int depth) {
    if (depth > max_depth) refuse_schema(where, "too deep", "a depth of " + std::to_string(max_depth));
    if (const bool* flag = schema.boolean()) return *flag ? text_.value() : syntax_.choice({});
    if (!schema.object()) refuse_schema(where, "not a schema", "an object or a boolean");
    for (const char* key : refused) {
      const Json* value = schema.find(key);
      const bool binds = value && !(value->boolean() && *value->boolean() == (std::string_view(key) != "uniqueItems"));
      if (binds) throw std::invalid_argument("[schema] " + where + "/" + key + " is not supported; leave it out");
    }
    if (const Json* ref = schema.find("$ref")) return reference(schema, *ref, where, depth);
    if (const Json* all = schema.find("allOf")) return every(schema, *all, where, depth);
    for (const char* key : {"anyOf", "oneOf"})
      if (const Json* options = schema.find(key)) return either(schema, *options, key, where, depth);
    if (const Json* value = schema.find("const")) return listed(schema, {*value}, where);
    if (const Json* values = schema.find("enum")) {
      if (!values->array()) refuse_schema(where + "/enum", "not a list", "a list of values");
      return listed(schema, *values->array(), where);
    }
    return typed(schema, where, depth);
  }

  Expr reference(const Json& schema, const Json& ref, Where where, int depth) {
    if (!ref.string()) refuse_schema(where + "/$ref", "not a text", "a place in this schema, as \"#/$defs/name\"");
    const Json& referred = schema_at(document_, *ref.string(), where);
    const Json rest = without(schema, "$ref");
    if (!says_nothing(rest)) return this->schema(merged(referred, rest, where), where, depth + 1);
    const auto [at, is_new] = pointers_.try_emplace(*ref.string(), -1);
    if (is_new) {
      const Rule rule = at->second = syntax_.declare(*ref.string());
      syntax_.define(rule, this->schema(referred, *ref.string(), 0));
      return syntax_.call(rule);
    }
    return syntax_.call(at->second);
  }

  Expr every(const Json& schema, const Json& all, Where where, int depth) {
    if (!all.array() || all.array()->empty())
      refuse_schema(where + "/allOf", "no list of schemas", "one of at least one");
    Json one = without(schema, "allOf");
    for (size_t i = 0; i < all.array()->size(); ++i) {
      const std::string place = where + "/allOf/" + std::to_string(i);
      const Json* part = &(*all.array())[i];
      for (int follow = 0; part->find("$ref") && part->find("$ref")->string() && part->object()->size() == 1;
           ++follow) {
        if (follow > max_depth) refuse_schema(place + "/$ref", "a circle", "a schema");
        part = &schema_at(document_, *part->find("$ref")->string(), place);
      }
      one = merged(one, *part, place);
    }
    return this->schema(one, where, depth + 1);
  }

  Expr either(const Json& schema, const Json& options, const std::string& key, Where where, int depth) {
    if (!options.array() || options.array()->empty())
      refuse_schema(where + "/" + key, "no list of schemas", "one of at least one");
    if (key == "oneOf") demand_apart(document_, *options.array(), where);
    const Json rest = without(schema, key);
    std::vector<Expr> choices;
    for (size_t i = 0; i < options.array()->size(); ++i) {
      const std::string place = where + "/" + key + "/" + std::to_string(i);
      const Json& option = (*options.array())[i];
      choices.push_back(says_nothing(rest) ? this->schema(option, place, depth + 1)
                                           : this->schema(Json(JsonObject{{"allOf", Json(JsonArray{rest, option})}}),
                                                          place, depth + 1));
    }
    return syntax_.choice(std::move(choices));
  }

  Expr listed(const Json& schema, const JsonArray& values, Where where) {
    for (const auto* keys : {&of_strings, &of_numbers}) {
      if (has_any(schema, *keys)) refuse_schema(where, "a list of values with bounds beside it", "the list alone");
    }
    std::vector<Expr> choices;
    for (const Json& value : values)
      if (!schema.find("type") || is_type(value, *schema.find("type"))) choices.push_back(text_.constant(value));
    return syntax_.choice(std::move(choices));
  }

  Expr typed(const Json& schema, Where where, int depth) {
    JsonArray types;
    if (const Json* type = schema.find("type")) types = type->array() ? *type->array() : JsonArray{*type};
    else if (has_any(schema, of_objects)) types = {Json{std::string("object")}};
    else if (has_any(schema, of_arrays)) types = {Json{std::string("array")}};
    else if (has_any(schema, of_strings)) types = {Json{std::string("string")}};
    else if (has_any(schema, of_numbers)) types = {Json{std::string("number")}};
    else return text_.value();
    std::vector<Expr> choices;
    for (const Json& type : types) {
      const std::string name = type.string() ? *type.string() : "";
      if (name == "object") choices.push_back(object(schema, where, depth));
      else if (name == "array") choices.push_back(array(schema, where, depth));
      else if (name == "string") choices.push_back(string(schema, where));
      else if (name == "number" || name == "integer") choices.push_back(number(schema, where, name == "integer"));
      else if (name == "boolean") choices.insert(choices.end(), {syntax_.literal("true"), syntax_.literal("false")});
      else if (name == "null") choices.push_back(syntax_.literal("null"));
      else
        refuse_schema(where + "/type", "\"" + printable(name) + "\"",
                      "string, number, integer, boolean, null, object and array");
    }
    return syntax_.choice(std::move(choices));
  }

  struct Member {
    Expr text;
    bool required;
  };

  Expr member(Expr key, Expr value) { return syntax_.sequence({key, syntax_.literal(":"), text_.blank(), value}); }

  Expr object(const Json& schema, Where where, int depth) {
    const Json *properties = schema.find("properties"), *more = schema.find("additionalProperties"),
               *patterns = schema.find("patternProperties");
    if (properties && !properties->object())
      refuse_schema(where + "/properties", "not an object", "an object of schemas");
    std::set<std::string> wanted = required_names(schema, where);
    std::vector<Member> members;
    std::vector<std::string> names;
    for (const auto& [name, part] : properties ? *properties->object() : JsonObject{}) {
      const Expr value = this->schema(part, where + "/properties/" + name, depth + 1);
      members.push_back({member(text_.quoted(std::string_view(name)), value), wanted.erase(name) > 0});
      names.push_back(name);
    }
    const bool closed = more ? more->boolean() && !*more->boolean() : properties || patterns;
    for (const std::string& name : wanted) {
      if (more && closed)
        refuse_schema(where + "/required", "\"" + printable(name) + "\", which additionalProperties forbids",
                      "names of properties");
      const Expr value = more ? this->schema(*more, where + "/additionalProperties", depth + 1) : text_.value();
      members.push_back({member(text_.quoted(std::string_view(name)), value), true});
      names.push_back(name);
    }
    std::optional<Expr> free;
    if (patterns) free = patterned(*patterns, names, more, where, depth);
    else if (!closed && !(names.empty() && !more))
      free = member(text_.string_but(names),
                    more ? this->schema(*more, where + "/additionalProperties", depth + 1) : text_.value());
    else if (!closed) free = member(text_.string(), text_.value());
    const int32_t least = count_of(schema, "minProperties", 0, where),
                  most = count_of(schema, "maxProperties", unbounded, where);
    return syntax_.call(syntax_.add(where, braces(members, free, least, most, where)));
  }

  Expr patterned(const Json& patterns, const std::vector<std::string>& names, const Json* more, Where where,
                 int depth) {
    const bool alone =
        patterns.object() && patterns.object()->size() == 1 && names.empty() && (!more || more->boolean());
    if (!alone)
      refuse_schema(where + "/patternProperties", "beside other members, or of several patterns", "one pattern alone");
    const auto& [pattern, part] = patterns.object()->front();
    const std::string place = where + "/patternProperties/" + pattern;
    const Expr key = text_.quoted(regex(syntax_, pattern, Writing::json, true, "[schema] " + place));
    return member(key, schema(part, place, depth + 1));
  }

  // Members in order; optional ones may be left out. Then any number of additional ones.
  Expr braces(const std::vector<Member>& members, std::optional<Expr> free, int32_t least, int32_t most, Where where) {
    Syntax& s = syntax_;
    const auto needed = std::ranges::count_if(members, &Member::required);
    const auto all = static_cast<ptrdiff_t>(members.size());
    const bool free_alone = members.empty() && free;
    const bool counts_hold = least <= needed && (most == unbounded || (!free && most >= all));
    if (!counts_hold && !(free_alone && least <= 1))
      refuse_schema(where, "an object of which members are counted",
                    "minProperties up to 1 and maxProperties where no properties are named");
    const auto then = [&](Expr part) { return s.sequence({s.literal(","), text_.blank(), part}); };
    std::vector<Expr> beginnings;
    bool may_be_empty = true;
    for (size_t first = 0; first < members.size() && may_be_empty; ++first) {
      std::vector<Expr> parts{members[first].text};
      for (size_t i = first + 1; i < members.size(); ++i)
        parts.push_back(members[i].required ? then(members[i].text) : s.optional(then(members[i].text)));
      if (free) parts.push_back(s.repeat(then(*free), 0, unbounded));
      beginnings.push_back(s.sequence(std::move(parts)));
      may_be_empty = !members[first].required;
    }
    if (free && may_be_empty && most != 0)
      beginnings.push_back(s.sequence({*free, s.repeat(then(*free), 0, most == unbounded ? unbounded : most - 1)}));
    Expr inner = s.sequence({s.choice(std::move(beginnings)), text_.blank()});
    if (may_be_empty && least == 0) inner = s.optional(inner);
    return s.sequence({s.literal("{"), text_.blank(), inner, s.literal("}")});
  }

  Expr array(const Json& schema, Where where, int depth) {
    Syntax& s = syntax_;
    const int32_t least = count_of(schema, "minItems", 0, where), most = count_of(schema, "maxItems", unbounded, where);
    if (most != unbounded && most < least) refuse_schema(where + "/maxItems", "less than minItems", "at least as many");
    const Json *prefix = schema.find("prefixItems"), *items = schema.find("items");
    if (prefix && !prefix->array()) refuse_schema(where + "/prefixItems", "not a list", "a list of schemas");
    std::vector<Expr> fixed;
    for (size_t i = 0; prefix && i < prefix->array()->size() && (most == unbounded || static_cast<int32_t>(i) < most);
         ++i)
      fixed.push_back(this->schema((*prefix->array())[i], where + "/prefixItems/" + std::to_string(i), depth + 1));
    const auto count_fixed = static_cast<int32_t>(fixed.size());
    // No items follow the listed ones, unless the schema says so.
    const bool closed = items ? items->boolean() && !*items->boolean() : prefix && least <= count_fixed;
    if (closed && least > count_fixed)
      refuse_schema(where + "/minItems", "more than there can be", "at most " + std::to_string(count_fixed));
    const Rule item = s.add(where + " item", items ? this->schema(*items, where + "/items", depth + 1) : text_.value());
    const auto then = [&](Expr part) { return s.sequence({s.literal(","), text_.blank(), part}); };
    const int32_t rest_least = std::max(0, least - count_fixed), rest_most = closed              ? 0
                                                                             : most == unbounded ? unbounded
                                                                                                 : most - count_fixed;
    Expr inner = s.empty();
    if (fixed.empty()) {
      if (rest_most != 0) {
        const Expr more = s.repeat(then(s.call(item)), std::max(0, rest_least - 1),
                                   rest_most == unbounded ? unbounded : rest_most - 1);
        inner = s.sequence({s.call(item), more, text_.blank()});
        if (rest_least == 0) inner = s.optional(inner);
      }
    } else {
      // Built from the last item backwards: each may end the list once there are enough.
      Expr tail = s.repeat(then(s.call(item)), rest_least, rest_most);
      for (int32_t i = count_fixed; i-- > 1;) {
        tail = s.sequence({then(fixed[static_cast<size_t>(i)]), tail});
        if (i >= least) tail = s.optional(tail);
      }
      inner = s.sequence({fixed.front(), tail, text_.blank()});
      if (least == 0) inner = s.optional(inner);
    }
    return s.call(s.add(where, s.sequence({s.literal("["), text_.blank(), inner, s.literal("]")})));
  }

  Expr string(const Json& schema, Where where) {
    const Json *pattern = schema.find("pattern"), *format = schema.find("format");
    const bool counted = schema.find("minLength") || schema.find("maxLength");
    if (pattern) {
      if (!pattern->string()) refuse_schema(where + "/pattern", "not a text", "a regular expression");
      if (counted) refuse_schema(where + "/pattern", "beside a length", "one of the two");
      return text_.quoted(regex(syntax_, *pattern->string(), Writing::json, true, "[schema] " + where + "/pattern:"));
    }
    if (format && format->string()) {
      if (const char* known = format_pattern(*format->string())) {
        if (counted) refuse_schema(where + "/format", "beside a length", "one of the two");
        return text_.quoted(regex(syntax_, known, Writing::json, false, "[schema] " + where + "/format:"));
      }
    }
    const int32_t least = count_of(schema, "minLength", 0, where),
                  most = count_of(schema, "maxLength", unbounded, where);
    if (most != unbounded && most < least)
      refuse_schema(where + "/maxLength", "less than minLength", "at least as much");
    return least == 0 && most == unbounded ? text_.string() : text_.string(least, most);
  }

  Expr number(const Json& schema, Where where, bool whole) {
    const auto bound = [&](const char* key) -> std::optional<double> {
      const Json* value = schema.find(key);
      if (!value) return std::nullopt;
      double storage = 0;
      const double* number = value->number(storage);
      if (!number) refuse_schema(where + "/" + key, "not a number", "a number");
      return *number;
    };
    std::optional<double> least = bound("minimum"), most = bound("maximum");
    const std::optional<double> above = bound("exclusiveMinimum"), below = bound("exclusiveMaximum");
    if (!least && !most && !above && !below) return whole ? text_.integer() : text_.number();
    const bool open_below = above && (!least || *above >= *least), open_above = below && (!most || *below <= *most);
    if (open_below) least = above;
    if (open_above) most = below;
    int decimals = whole ? 0 : 3;
    for (const std::optional<double>& one : {least, most})
      while (one && !whole && decimals < 6 &&
             std::floor(*one * std::pow(10, decimals)) != *one * std::pow(10, decimals))
        ++decimals;
    return text_.number_between(least, most, open_below, open_above, decimals);
  }

  Json document_;
  Syntax& syntax_;
  JsonText text_;
  std::map<std::string, Rule> pointers_;
};

}  // namespace

Rule add_json_schema(Syntax& syntax, Json schema) { return SchemaReader(syntax, std::move(schema)).whole(); }

Syntax read_json_schema(std::string_view text) {
  if (text.size() > max_text) refuse_size("bytes", max_text);
  try {
    Syntax syntax;
    add_json_schema(syntax, Json::parse(text, "schema", "the schema"));
    return syntax;
  } catch (const FormatError& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace longhand::grammar
