// `build`: which source and compiler made this addon.
#include "addon/registry.h"

namespace longhand {

void register_build(Napi::Env env, Napi::Object exports) {
  Napi::Object build = Napi::Object::New(env);
  build.Set("version", LONGHAND_VERSION);
  build.Set("commit", LONGHAND_COMMIT);
  build.Set("compiler", __VERSION__);
  exports.Set("build", build);
}

}  // namespace longhand
