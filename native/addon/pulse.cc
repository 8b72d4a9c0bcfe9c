// `pulse`: whether native threads make progress, for the watchdog of this process.
#include "engine/pulse.h"

#include "addon/registry.h"

namespace longhand {

void register_pulse(Napi::Env env, Napi::Object exports) {
  exports.Set("pulse", Napi::Function::New(
                           env,
                           [](const Napi::CallbackInfo& info) -> Napi::Value {
                             Napi::Object out = Napi::Object::New(info.Env());
                             out.Set("running", static_cast<double>(pulse.running.load()));
                             out.Set("steps", static_cast<double>(pulse.steps.load()));
                             return out;
                           },
                           "pulse"));
}

}  // namespace longhand
