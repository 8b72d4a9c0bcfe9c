// Native values as JavaScript values, with the names of native/addon/index.d.ts.
#pragma once

#include <napi.h>

#include <map>

#include "addon/devices.h"
#include "addon/values/values.h"
#include "architectures/shared/describe.h"
#include "engine/session.h"

namespace longhand {

Napi::Object to_js(Napi::Env env, const DeviceEntry& device);
Napi::Object to_js(Napi::Env env, const Description& description);
Napi::Object to_js(Napi::Env env, const GenerateResult& result);
Napi::Object to_js(Napi::Env env, const TokenEvent& event, bool with_top);
Napi::Object to_js(Napi::Env env, const Matrix& matrix);
Napi::Array to_js(Napi::Env env, const std::map<std::string, KernelTime>& times);
Napi::Array to_js(Napi::Env env, const std::vector<std::string>& texts);
Napi::Float32Array to_js(Napi::Env env, const std::vector<float>& values);
Napi::Int32Array to_js(Napi::Env env, const std::vector<int32_t>& values);
const char* name_of(Container container);

}  // namespace longhand
