// Test hooks for engine internals that are not exposed otherwise.
#include <chrono>
#include <thread>

#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/errors.h"
#include "addon/values/options.h"
#include "addon/values/values.h"
#include "engine/decode/sampler.h"

namespace longhand {
namespace {

// dryBiases(history: Int32Array, { multiplier, base, allowedLength, window, breakers }) -> [{ id, bias }]
Napi::Value dry_biases_of(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::vector<int32_t> history = token_array(info[0], "dry");
    const Options options(info[1], "dry");
    const Dry dry{static_cast<float>(options.number("multiplier", 0, 0, 1e6)),
                  static_cast<float>(options.number("base", 1.75, 1, 1e6)),
                  options.integer("allowedLength", 2, 1, 1 << 20), options.integer("window", -1, -1, 1 << 20),
                  options.tokens("breakers")};
    Napi::Array out = Napi::Array::New(info.Env());
    for (const TokenBias& bias : dry_biases(dry, history)) {
      Napi::Object entry = Napi::Object::New(info.Env());
      entry.Set("id", bias.id);
      entry.Set("bias", bias.bias);
      out.Set(out.Length(), entry);
    }
    return out;
  });
}

// hang() -> a promise that never settles: a native thread that behaves like a stuck driver.
Napi::Value hang(const Napi::CallbackInfo& info) {
  return on_own_thread(info.Env(), []() -> Operation::Convert {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  });
}

}  // namespace

void register_testing_engine(Napi::Env env, Napi::Object exports) {
  Napi::Object testing = testing_object(env, exports);
  testing.Set("dryBiases", Napi::Function::New(env, dry_biases_of, "dryBiases"));
  testing.Set("hang", Napi::Function::New(env, hang, "hang"));
}

}  // namespace longhand
