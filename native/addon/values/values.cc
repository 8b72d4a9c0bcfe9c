#include "addon/values/values.h"

#include "addon/values/errors.h"

namespace longhand {
namespace {

Napi::Value array_to_js(Napi::Env env, const JsonArray& items) {
  Napi::Array result = Napi::Array::New(env, items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    const Napi::HandleScope scope(env);
    result.Set(i, to_js(env, items[i]));
  }
  return result;
}

Napi::Value object_to_js(Napi::Env env, const JsonObject& members) {
  Napi::Object result = Napi::Object::New(env);
  for (const auto& [key, member] : members) {
    const Napi::HandleScope scope(env);
    define_member(result, key, to_js(env, member));
  }
  return result;
}

}  // namespace

Napi::Value to_js(Napi::Env env, const Json& value) {
  if (value.array() != nullptr) return array_to_js(env, *value.array());
  if (value.object() != nullptr) return object_to_js(env, *value.object());
  if (value.string() != nullptr) return Napi::String::New(env, *value.string());
  if (value.boolean() != nullptr) return Napi::Boolean::New(env, *value.boolean());
  double storage = 0.0;
  if (const double* number = value.number(storage)) return Napi::Number::New(env, *number);
  return env.Null();
}

void define_member(Napi::Object object, const std::string& key, Napi::Value value) {
  constexpr auto plain = static_cast<napi_property_attributes>(napi_writable | napi_enumerable | napi_configurable);
  object.DefineProperty(Napi::PropertyDescriptor::Value(Napi::String::New(object.Env(), key), value, plain));
}

std::string string_argument(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (index < info.Length() && info[index].IsString()) return info[index].As<Napi::String>().Utf8Value();
  Napi::TypeError error =
      Napi::TypeError::New(info.Env(), std::string("[addon] the argument ") + name + " must be a string");
  error.Set("code", Napi::String::New(info.Env(), "argument"));
  throw error;
}

std::optional<std::span<const std::byte>> bytes_of(const Napi::Value& value) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) return std::nullopt;
  const auto array = value.As<Napi::Uint8Array>();
  return std::as_bytes(std::span(array.Data(), array.ElementLength()));
}

std::string owner_argument(Napi::Env env, const std::string& name) {
  constexpr size_t longest = 128;
  constexpr const char* allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (name.size() > longest || name.find_first_not_of(allowed) != std::string::npos) {
    throw coded_error(env, "argument",
                      "[session] owner has to be at most 128 letters, digits, underscores and hyphens");
  }
  return name;
}

Napi::Object testing_object(Napi::Env env, Napi::Object exports) {
  if (!exports.Has("testing")) exports.Set("testing", Napi::Object::New(env));
  return exports.Get("testing").As<Napi::Object>();
}

}  // namespace longhand
