#include "grammar/schema_pointer.h"

#include <algorithm>

#include "formats/utf8.h"
#include "grammar/schema_merge.h"

namespace longhand::grammar {

namespace {

std::string unescaped(const std::string& token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    const std::string_view rest = std::string_view(token).substr(i);
    if (rest.starts_with("~1")) out += '/', ++i;
    else if (rest.starts_with("~0")) out += '~', ++i;
    else if (rest.size() > 2 && rest[0] == '%')
      out += static_cast<char>(std::strtol(std::string(rest.substr(1, 2)).c_str(), nullptr, 16)), i += 2;
    else out += token[i];
  }
  return out;
}

}  // namespace

const Json& schema_at(const Json& document, const std::string& pointer, const std::string& where) {
  const auto fail = [&]() {
    refuse_schema(where + "/$ref", "\"" + printable(pointer) + "\"", "a place in this schema, as \"#/$defs/name\"");
  };
  if (pointer.empty() || pointer[0] != '#' || (pointer.size() > 1 && pointer[1] != '/')) fail();
  const Json* here = &document;
  for (size_t at = 1; at < pointer.size();) {
    const size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    const std::string key = unescaped(pointer.substr(at + 1, end - at - 1));
    if (const JsonArray* list = here->array()) {
      const bool only_digits =
          !key.empty() && key.size() < 9 && std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
      const size_t index = only_digits ? static_cast<size_t>(std::stoul(key)) : list->size();
      if (index >= list->size()) fail();
      here = &(*list)[index];
    } else {
      here = here->find(key);
      if (!here) fail();
    }
    at = end;
  }
  return *here;
}

const Json& followed(const Json& document, const Json& schema, const std::string& where) {
  const Json* ref = schema.find("$ref");
  return ref && ref->string() ? schema_at(document, *ref->string(), where) : schema;
}

}  // namespace longhand::grammar
