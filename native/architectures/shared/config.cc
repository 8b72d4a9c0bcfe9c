#include "architectures/shared/config.h"
#include "formats/utf8.h"

#include <cmath>
#include <sstream>

namespace longhand {

namespace {

const Json* walk(const Json* from, std::string_view path) {
  while (from && !path.empty()) {
    const size_t dot = path.find('.');
    from = from->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return from && !from->is_null() ? from : nullptr;
}

std::string spell(double value) {
  std::ostringstream out;
  out.precision(12);
  out << value;
  return out.str();
}

}  // namespace

std::string architecture_name(const Checkpoint& checkpoint) {
  const Json& json = checkpoint.config();
  const Json* name = nullptr;
  if (checkpoint.container() == Container::gguf) {
    name = json.find("general.architecture");
  } else {
    name = walk(&json, "text_config.model_type");
    if (!name) name = walk(&json, "model_type");
  }
  return name && name->string() ? *name->string() : "";
}

Config::Config(const Checkpoint& checkpoint, Diagnostics& problems)
    : json_(checkpoint.config()),
      text_(walk(&json_, "text_config")),
      gguf_(checkpoint.container() == Container::gguf),
      prefix_(architecture_name(checkpoint) + "."),
      problems_(problems) {}

const Json* Config::find_path(std::string_view path) const {
  if (const Json* inner = walk(text_, path)) return inner;
  return walk(&json_, path);
}

const Json* Config::find(Key key) const {
  if (!gguf_) return key.hf ? find_path(key.hf) : nullptr;
  if (!key.gguf) return nullptr;
  const Json* value = json_.find(prefix_ + key.gguf);
  return value && !value->is_null() ? value : nullptr;
}

std::string Config::spelled(Key key) const {
  if (gguf_) return "[gguf] \"" + prefix_ + (key.gguf ? key.gguf : "") + "\"";
  return "[config] \"" + std::string(key.hf ? key.hf : "") + "\"";
}

double Config::checked(Key key, const Json& value, Range range, bool integral) const {
  double storage = 0;
  const double* number = value.number(storage);
  if (!number || !std::isfinite(*number) || (integral && *number != std::floor(*number))) {
    problems_.add(spelled(key) + " is not " + (integral ? "a whole number" : "a number"));
    return range.least;
  }
  if (*number < range.least || *number > range.most) {
    problems_.add(spelled(key) + " is " + spell(*number) + ", expected " + spell(range.least) + " to " +
                  spell(range.most));
    return range.least;
  }
  return *number;
}

int64_t Config::integer(Key key, Range range) const {
  const Json* value = find(key);
  if (value) return static_cast<int64_t>(checked(key, *value, range, true));
  problems_.add(spelled(key) + " is missing");
  return static_cast<int64_t>(range.least);
}

double Config::number(Key key, Range range) const {
  const Json* value = find(key);
  if (value) return checked(key, *value, range, false);
  problems_.add(spelled(key) + " is missing");
  return range.least;
}

int64_t Config::integer_or(Key key, int64_t fallback, Range range) const {
  return has(key) ? integer(key, range) : fallback;
}

double Config::number_or(Key key, double fallback, Range range) const {
  return has(key) ? number(key, range) : fallback;
}

bool Config::flag_or(Key key, bool fallback) const {
  const Json* value = find(key);
  if (!value) return fallback;
  if (const bool* flag = value->boolean()) return *flag;
  problems_.add(spelled(key) + " is neither true nor false");
  return fallback;
}

std::string Config::text_or(Key key, const std::string& fallback) const {
  const Json* value = find(key);
  if (!value) return fallback;
  if (const std::string* text = value->string()) return *text;
  problems_.add(spelled(key) + " is not a string");
  return fallback;
}

std::vector<std::string> Config::texts(Key key) const {
  const Json* value = find(key);
  if (!value) return {};
  std::vector<std::string> out;
  if (const JsonArray* items = value->array()) {
    for (const Json& item : *items) {
      if (const std::string* text = item.string()) out.push_back(*text);
    }
    if (out.size() == items->size()) return out;
  }
  problems_.add(spelled(key) + " is not a list of strings");
  return {};
}

std::vector<double> Config::numbers(Key key) const {
  const Json* value = find(key);
  if (!value) return {};
  double storage = 0;
  if (const double* single = value->number(storage)) return {*single};
  std::vector<double> out;
  if (const JsonArray* items = value->array()) {
    for (const Json& item : *items) {
      if (const double* number = item.number(storage)) out.push_back(*number);
    }
    if (out.size() == items->size()) return out;
  }
  problems_.add(spelled(key) + " is not a list of numbers");
  return {};
}

std::vector<int64_t> Config::integers(Key key) const {
  std::vector<int64_t> out;
  for (const double number : numbers(key)) {
    if (number != std::floor(number) || std::abs(number) > 1e15) {
      problems_.add(spelled(key) + " holds " + spell(number) + ", expected whole numbers");
      return {};
    }
    out.push_back(static_cast<int64_t>(number));
  }
  return out;
}

void Config::require(bool holds, const std::string& sentence) const {
  if (!holds) problems_.add((gguf_ ? "[gguf] " : "[config] ") + sentence);
}

void Config::only(Key key, const char* value) const {
  const std::string found = text_or(key, value);
  if (found != value)
    problems_.add(spelled(key) + " is \"" + printable(found) + "\", expected \"" + std::string(value) + "\"");
}

void Config::only(Key key, bool value) const {
  if (flag_or(key, value) != value) {
    problems_.add(spelled(key) + " is " + (value ? "false" : "true") + ", expected " + (value ? "true" : "false"));
  }
}

}  // namespace longhand
