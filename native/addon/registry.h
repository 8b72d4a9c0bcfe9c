// One line a file of the addon: a function that puts its classes and functions on the exports object.
#pragma once

#include <napi.h>

namespace longhand {

using Registration = void (*)(Napi::Env env, Napi::Object exports);

void register_build(Napi::Env env, Napi::Object exports);
void register_gguf_metadata(Napi::Env env, Napi::Object exports);
void register_testing_formats(Napi::Env env, Napi::Object exports);
void register_testing_ops(Napi::Env env, Napi::Object exports);

inline constexpr Registration registrations[] = {
    register_build,
    register_gguf_metadata,
    register_testing_formats,
    register_testing_ops,
};

}  // namespace longhand
