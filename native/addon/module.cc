// Registers everything the addon offers. The JavaScript side is native/addon/index.d.ts.
#include <napi.h>

#include "addon/registry.h"

namespace longhand {

Napi::Object init(Napi::Env env, Napi::Object exports) {
  for (const Registration registration : registrations) registration(env, exports);
  return exports;
}

}  // namespace longhand

static Napi::Object longhand_init(Napi::Env env, Napi::Object exports) { return longhand::init(env, exports); }
NODE_API_MODULE(longhand, longhand_init)
