// One line a file of the addon: a function that puts its classes and functions on the exports object.
#pragma once

#include <napi.h>

namespace longhand {

using Registration = void (*)(Napi::Env env, Napi::Object exports);

void create_environment(Napi::Env env, Napi::Object exports);
void register_abort_flag(Napi::Env env, Napi::Object exports);
void register_build(Napi::Env env, Napi::Object exports);
void register_devices(Napi::Env env, Napi::Object exports);
void register_gguf_metadata(Napi::Env env, Napi::Object exports);
void register_grammar(Napi::Env env, Napi::Object exports);
void register_inspect(Napi::Env env, Napi::Object exports);
void register_model(Napi::Env env, Napi::Object exports);
void register_pulse(Napi::Env env, Napi::Object exports);
void register_session(Napi::Env env, Napi::Object exports);
void register_testing_engine(Napi::Env env, Napi::Object exports);
void register_testing_formats(Napi::Env env, Napi::Object exports);
void register_testing_ops(Napi::Env env, Napi::Object exports);
void register_vision(Napi::Env env, Napi::Object exports);
void register_weight_source(Napi::Env env, Napi::Object exports);

inline constexpr Registration registrations[] = {
    create_environment,  // first: the others keep their constructors in it
    register_abort_flag,      register_build,       register_devices, register_gguf_metadata, register_grammar,
    register_inspect,         register_model,       register_pulse,   register_session,       register_testing_engine,
    register_testing_formats, register_testing_ops, register_vision,  register_weight_source,
};

}  // namespace longhand
