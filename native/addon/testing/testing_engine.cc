// Test hooks for engine internals that are not exposed otherwise.
#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/errors.h"
#include "addon/values/options.h"
#include "addon/values/values.h"
#include "engine/decode/sampler.h"
#include "engine/prompt_cache/aead.h"

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

// aead(encrypts: boolean, { key, nonce, additional, message: Uint8Array, piece: bytes at a time })
//   -> { message, tag: Uint8Array }
Napi::Value aead_of(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const bool encrypts = info[0].As<Napi::Boolean>();
    const Options options(info[1], "aead");
    const auto bytes = [&](const char* key) { return bytes_of(options.get(key)).value(); };
    AeadNonce nonce;
    std::ranges::copy(bytes("nonce").first(nonce.size()), nonce.begin());
    std::vector<std::byte> message(bytes("message").begin(), bytes("message").end());
    Aead aead(AeadKey(bytes("key").first<32>()), nonce, bytes("additional"));
    const auto most = static_cast<size_t>(options.integer("piece", 1 << 16, 1, 1 << 30));
    for (size_t at = 0; at < message.size(); at += most) {
      const std::span<std::byte> piece = std::span(message).subspan(at, std::min(most, message.size() - at));
      encrypts ? aead.encrypt(piece) : aead.decrypt(piece);
    }
    const auto array = [&](std::span<const std::byte> from) {
      Napi::Uint8Array out = Napi::Uint8Array::New(info.Env(), from.size());
      std::ranges::transform(from, out.Data(), [](std::byte each) { return std::to_integer<uint8_t>(each); });
      return out;
    };
    Napi::Object out = Napi::Object::New(info.Env());
    out.Set("message", array(message));
    out.Set("tag", array(aead.tag()));
    return out;
  });
}

// sameTag(a, b: Uint8Array(16)) -> boolean
Napi::Value same_tag_of(const Napi::CallbackInfo& info) {
  AeadTag a, b;
  std::ranges::copy(bytes_of(info[0]).value().first(a.size()), a.begin());
  std::ranges::copy(bytes_of(info[1]).value().first(b.size()), b.begin());
  return Napi::Boolean::New(info.Env(), same_tag(a, b));
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
  testing.Set("aead", Napi::Function::New(env, aead_of, "aead"));
  testing.Set("sameTag", Napi::Function::New(env, same_tag_of, "sameTag"));
  testing.Set("hang", Napi::Function::New(env, hang, "hang"));
}

}  // namespace longhand
