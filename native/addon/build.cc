// `build`: which source and compiler made this addon.
#include "addon/registry.h"

namespace longhand {

void register_build(Napi::Env env, Napi::Object exports) {
  Napi::Object build = Napi::Object::New(env);
  build.Set("version", LONGHAND_VERSION);
  build.Set("commit", LONGHAND_COMMIT);
  build.Set("compiler", __VERSION__);
  Napi::Array back_ends = Napi::Array::New(env);
  back_ends.Set(0u, "cpu");
#ifdef __APPLE__
  back_ends.Set(1u, "metal");
#else
  back_ends.Set(1u, "vulkan");
#endif
  build.Set("backEnds", back_ends);
  exports.Set("build", build);
}

}  // namespace longhand
