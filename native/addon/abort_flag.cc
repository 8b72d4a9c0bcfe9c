#include "addon/abort_flag.h"

#include "addon/environment.h"
#include "addon/registry.h"

namespace longhand {

AbortFlagObject::AbortFlagObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<AbortFlagObject>(info) {}

CancelFlag AbortFlagObject::flag_of(const Napi::Value& value) {
  if (!value.IsObject()) return nullptr;
  const Napi::Object object = value.As<Napi::Object>();
  if (!object.InstanceOf(Environment::of(value.Env()).abort_flag.Value())) return nullptr;
  return Unwrap(object)->flag_;
}

void AbortFlagObject::set(const Napi::CallbackInfo&) { flag_->store(true); }

Napi::Value AbortFlagObject::is_set(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), flag_->load());
}

void register_abort_flag(Napi::Env env, Napi::Object exports) {
  const Napi::Function constructor =
      AbortFlagObject::DefineClass(env, "AbortFlag",
                                   {AbortFlagObject::InstanceMethod<&AbortFlagObject::set>("set"),
                                    AbortFlagObject::InstanceAccessor<&AbortFlagObject::is_set>("isSet")});
  Environment::of(env).abort_flag = Napi::Persistent(constructor);
  exports.Set("AbortFlag", constructor);
}

}  // namespace longhand
