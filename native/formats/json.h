// A strict JSON value for headers and config files: UTF-8 checked, duplicate keys refused, nesting and size limited.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace longhand {

class Json;
using JsonArray = std::vector<Json>;
using JsonObject = std::vector<std::pair<std::string, Json>>;  // in file order; keys are unique

class Json {
 public:
  // Integers that fit are kept exact; everything else numeric is a double.
  using Value = std::variant<std::nullptr_t, bool, int64_t, double, std::string, JsonArray, JsonObject>;

  Json() = default;
  Json(Value value) : value_(std::move(value)) {}

  // Throws FormatError "[where] subject is not valid JSON at byte ...". Depth at most 64, 2,000,000 values.
  static Json parse(std::string_view text, std::string_view where, std::string_view subject = "the text");

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const JsonArray* array() const { return std::get_if<JsonArray>(&value_); }
  const JsonObject* object() const { return std::get_if<JsonObject>(&value_); }
  // Integers count as numbers too.
  const double* number(double& storage) const;
  // Member of an object; null when absent or not an object.
  const Json* find(std::string_view key) const;

  const Value& value() const { return value_; }

 private:
  Value value_ = nullptr;
};

}  // namespace longhand
