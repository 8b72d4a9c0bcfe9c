#include "addon/values/options.h"

#include <cmath>
#include <sstream>

#include "addon/abort_flag.h"
#include "addon/values/errors.h"

namespace longhand {

namespace {

std::string between(double least, double most) {
  std::ostringstream out;
  out.precision(15);
  out << least << " to " << most;
  return out.str();
}

}  // namespace

Options::Options(Napi::Value value, const char* where) : env_(value.Env()), where_(where) {
  if (value.IsUndefined() || value.IsNull()) return;
  if (!value.IsObject()) throw coded_error(env_, "argument", "[" + where_ + "] the options are not an object");
  object_ = value.As<Napi::Object>();
}

void Options::fail(const char* key, const std::string& allowed) const {
  const Napi::Value value = get(key);
  std::ostringstream came;
  came.precision(15);
  if (value.IsNumber()) came << value.As<Napi::Number>().DoubleValue();
  else if (value.IsString()) came << '"' << value.As<Napi::String>().Utf8Value().substr(0, 40) << '"';
  else came << "of another kind";
  throw coded_error(env_, "argument", "[" + where_ + "] " + key + " is " + came.str() + ", expected " + allowed);
}

Napi::Value Options::get(const char* key) const { return object_.IsEmpty() ? env_.Undefined() : object_.Get(key); }

bool Options::has(const char* key) const {
  const Napi::Value value = get(key);
  return !value.IsUndefined() && !value.IsNull();
}

double Options::number(const char* key, double fallback, double least, double most) const {
  if (!has(key)) return fallback;
  const Napi::Value value = get(key);
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (!(number >= least && number <= most)) fail(key, "numbers from " + between(least, most));
  return number;
}

int64_t Options::integer(const char* key, int64_t fallback, int64_t least, int64_t most) const {
  const double value =
      number(key, static_cast<double>(fallback), static_cast<double>(least), static_cast<double>(most));
  if (value != std::floor(value)) fail(key, "whole numbers");
  return static_cast<int64_t>(value);
}

bool Options::flag(const char* key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!get(key).IsBoolean()) fail(key, "true and false");
  return get(key).As<Napi::Boolean>().Value();
}

std::string Options::text(const char* key, const std::string& fallback) const {
  if (!has(key)) return fallback;
  if (!get(key).IsString()) fail(key, "strings");
  return get(key).As<Napi::String>().Utf8Value();
}

std::vector<int32_t> Options::tokens(const char* key) const {
  if (!has(key)) return {};
  if (!get(key).IsArray()) fail(key, "arrays of token ids");
  const Napi::Array items = get(key).As<Napi::Array>();
  std::vector<int32_t> out;
  for (uint32_t i = 0; i < items.Length(); ++i) {
    const Napi::Value item = items.Get(i);
    const double id = item.IsNumber() ? item.As<Napi::Number>().DoubleValue() : std::nan("");
    if (!(id >= 0 && id <= 2147483647.0) || id != std::floor(id)) fail(key, "arrays of token ids");
    out.push_back(static_cast<int32_t>(id));
  }
  return out;
}

std::vector<TokenBias> Options::biases(const char* key) const {
  if (!has(key)) return {};
  constexpr double most = 1e6;
  const std::string allowed = "as many numbers from " + between(-most, most) + " as tokens";
  const Options both = inner(key);
  const std::vector<int32_t> tokens = both.tokens("tokens");
  const Napi::Value given = both.get("values");
  if (!given.IsArray() || given.As<Napi::Array>().Length() != tokens.size()) both.fail("values", allowed);
  std::vector<TokenBias> out;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const Napi::Value item = given.As<Napi::Array>().Get(i);
    const double value = item.IsNumber() ? item.As<Napi::Number>().DoubleValue() : std::nan("");
    if (!(value >= -most && value <= most)) both.fail("values", allowed);
    out.push_back({tokens[i], static_cast<float>(value)});
  }
  return out;
}

Path Options::path(const char* key, Path fallback) const {
  const std::string name = text(key, fallback == Path::exact ? "exact" : "fast");
  if (name != "exact" && name != "fast") fail(key, "exact and fast");
  return name == "exact" ? Path::exact : Path::fast;
}

CancelFlag Options::cancel(const char* key) const {
  if (!has(key)) return make_cancel_flag();
  const CancelFlag flag = AbortFlagObject::flag_of(get(key));
  if (!flag) fail(key, "instances of AbortFlag");
  return flag;
}

Options Options::inner(const char* key) const { return Options(get(key), where_.c_str()); }

std::vector<Options> Options::list(const char* key) const {
  if (!has(key)) return {};
  if (!get(key).IsArray()) fail(key, "an array of objects");
  const auto array = get(key).As<Napi::Array>();
  std::vector<Options> out;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    if (!array.Get(i).IsObject()) fail(key, "an array of objects");
    out.emplace_back(array.Get(i), where_.c_str());
  }
  return out;
}

std::vector<int32_t> token_array(const Napi::Value& value, const char* where) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
    throw coded_error(value.Env(), "argument", std::string("[") + where + "] the tokens are not an Int32Array");
  }
  const auto array = value.As<Napi::Int32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

}  // namespace longhand
