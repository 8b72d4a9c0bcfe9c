// Texts composed of several notations: tool calls, whose arguments have schemas.
#include <stdexcept>

#include "formats/error.h"
#include "grammar/limits.h"
#include "grammar/read.h"
#include "grammar/regex.h"
#include "grammar/schema.h"

namespace longhand::grammar {

namespace {

[[noreturn]] void fail(const std::string& where) {
  throw std::invalid_argument(
      "[parts] " + where +
      " is not a part; expected a text, a list of parts, or an object with control, regex, schema, "
      "choice, optional or repeat");
}

Expr part(Syntax& syntax, const Json& json, const std::string& where, int depth) {
  if (depth > max_depth) refuse_size("groups within groups", max_depth);
  if (const std::string* text = json.string()) return syntax.literal(*text);
  const auto all = [&](const Json& list, const std::string& place) {
    if (!list.array()) fail(place);
    std::vector<Expr> parts;
    for (size_t i = 0; i < list.array()->size(); ++i)
      parts.push_back(part(syntax, (*list.array())[i], place + "/" + std::to_string(i), depth + 1));
    return parts;
  };
  if (json.array()) return syntax.sequence(all(json, where));
  if (const Json* control = json.find("control"); control && control->integer() && *control->integer() >= 0)
    return syntax.literal(control_text(static_cast<int32_t>(*control->integer())));
  if (const Json* pattern = json.find("regex"); pattern && pattern->string())
    return regex(syntax, *pattern->string(), Writing::plain, false, "[parts] " + where + "/regex:");
  if (const Json* schema = json.find("schema")) return syntax.call(add_json_schema(syntax, *schema));
  if (const Json* options = json.find("choice")) return syntax.choice(all(*options, where + "/choice"));
  if (const Json* inner = json.find("optional"))
    return syntax.optional(part(syntax, *inner, where + "/optional", depth + 1));
  if (const Json* inner = json.find("repeat")) {
    const Json* most = json.find("most");
    if (most && (!most->integer() || *most->integer() < 0 || *most->integer() > max_count)) fail(where + "/most");
    return syntax.repeat(part(syntax, *inner, where + "/repeat", depth + 1), 0,
                         most ? static_cast<int32_t>(*most->integer()) : unbounded);
  }
  fail(where);
}

}  // namespace

Syntax read_parts(std::string_view text) {
  if (text.size() > max_text) refuse_size("bytes", max_text);
  try {
    Syntax syntax;
    const Rule root = syntax.declare("parts");
    syntax.define(root, part(syntax, Json::parse(text, "parts"), "#", 0));
    return syntax;
  } catch (const FormatError& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace longhand::grammar
