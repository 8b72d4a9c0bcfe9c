// `canRecognise`, `recognise`: texts in pictures by the recogniser of the system.
#include <cstring>

#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/errors.h"
#include "vision/recognise.h"

namespace longhand {

namespace {

Napi::Object to_js(Napi::Env env, const PixelBox& box) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("left", box.left);
  out.Set("top", box.top);
  out.Set("right", box.right);
  out.Set("bottom", box.bottom);
  return out;
}

Napi::Object to_js(Napi::Env env, const RecognisedLine& line) {
  Napi::Array words = Napi::Array::New(env, line.words.size());
  for (uint32_t i = 0; i < line.words.size(); ++i) {
    Napi::Object word = Napi::Object::New(env);
    word.Set("text", line.words[i].text);
    word.Set("spaced", line.words[i].spaced);
    word.Set("box", to_js(env, line.words[i].box));
    words.Set(i, word);
  }
  Napi::Object out = Napi::Object::New(env);
  out.Set("confidence", line.confidence);
  out.Set("box", to_js(env, line.box));
  out.Set("words", words);
  return out;
}

Napi::Value recognise_picture(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (!info[0].IsTypedArray()) throw std::invalid_argument("[recognise] the picture is not a Uint8Array");
    const auto given = info[0].As<Napi::Uint8Array>();
    std::vector<std::byte> picture(given.ByteLength());
    std::memcpy(picture.data(), given.Data(), picture.size());
    return on_own_thread(info.Env(), [picture = std::move(picture)]() -> Operation::Convert {
      return [lines = recognise(picture)](Napi::Env env) -> Napi::Value {
        Napi::Array out = Napi::Array::New(env, lines.size());
        for (uint32_t i = 0; i < lines.size(); ++i) out.Set(i, to_js(env, lines[i]));
        return out;
      };
    });
  });
}

Napi::Value can_recognise_here(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), can_recognise());
}

}  // namespace

void register_vision(Napi::Env env, Napi::Object exports) {
  exports.Set("canRecognise", Napi::Function::New(env, can_recognise_here));
  exports.Set("recognise", Napi::Function::New(env, recognise_picture));
}

}  // namespace longhand
