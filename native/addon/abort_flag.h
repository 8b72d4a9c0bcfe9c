// `AbortFlag`: set from JavaScript, read by native threads.
#pragma once

#include <napi.h>

#include "engine/worker.h"

namespace longhand {

class AbortFlagObject : public Napi::ObjectWrap<AbortFlagObject> {
 public:
  explicit AbortFlagObject(const Napi::CallbackInfo& info);
  // Null when the value is something else.
  static CancelFlag flag_of(const Napi::Value& value);

 private:
  friend void register_abort_flag(Napi::Env env, Napi::Object exports);
  void set(const Napi::CallbackInfo& info);
  Napi::Value is_set(const Napi::CallbackInfo& info);

  CancelFlag flag_ = make_cancel_flag();
};

}  // namespace longhand
