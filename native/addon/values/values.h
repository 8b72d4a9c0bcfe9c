// Engine values as JavaScript values, and checked arguments.
#pragma once

#include <napi.h>

#include <optional>
#include <span>
#include <string>

#include "formats/json.h"

namespace longhand {

// Integers become numbers (rounded above 2^53).
Napi::Value to_js(Napi::Env env, const Json& value);

// A member whose name came from a file: defined, never assigned, so that "__proto__" is a name like any other.
void define_member(Napi::Object object, const std::string& key, Napi::Value value);

// Throws a TypeError with code `argument`.
std::string string_argument(const Napi::CallbackInfo& info, size_t index, const char* name);

// What a Uint8Array holds; nothing for another value.
std::optional<std::span<const std::byte>> bytes_of(const Napi::Value& value);

// The owner of a cached prompt: the name of a folder. "" is nobody. Throws a TypeError with code `argument`.
std::string owner_argument(Napi::Env env, const std::string& name);

// `exports.testing`, created on first use.
Napi::Object testing_object(Napi::Env env, Napi::Object exports);

}  // namespace longhand
