// `inspect` and `describe`: what headers alone tell.
#include "addon/convert.h"
#include "addon/environment.h"
#include "addon/jobs.h"
#include "addon/registry.h"

namespace longhand {

namespace {

// Opening reads files, so it has a thread of its own for as long as it takes.
Napi::Value on_own_thread(Napi::Env env, std::function<Operation::Convert()> work) {
  const auto operation = Operation::start(env);
  const Napi::Promise promise = operation->promise();
  const std::shared_ptr<Worker> worker = Environment::of(env).start_worker();
  post_job(*worker, operation, nullptr, nullptr, [worker, work = std::move(work)] { return work(); });
  return promise;
}

Napi::Value tensor_list(Napi::Env env, const Checkpoint& checkpoint) {
  Napi::Array out = Napi::Array::New(env, checkpoint.tensors().size());
  uint32_t index = 0;
  for (const WeightView& tensor : checkpoint.tensors()) {
    Napi::Array shape = Napi::Array::New(env, tensor.shape.size());
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      shape.Set(static_cast<uint32_t>(d), static_cast<double>(tensor.shape[d]));
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("name", tensor.name);
    entry.Set("type", name_of(tensor.type));
    entry.Set("shape", shape);
    out.Set(index++, entry);
  }
  return out;
}

Napi::Value inspect(const Napi::CallbackInfo& info) {
  return on_own_thread(info.Env(), [path = string_argument(info, 0, "path")]() -> Operation::Convert {
    const std::shared_ptr<const Checkpoint> checkpoint = open_checkpoint(path);
    return [checkpoint, description = describe(checkpoint)](Napi::Env env) -> Napi::Value {
      Napi::Object out = to_js(env, description);
      out.Set("files", to_js(env, checkpoint->files()));
      out.Set("config", to_js(env, checkpoint->config()));
      out.Set("tensors", tensor_list(env, *checkpoint));
      return out;
    };
  });
}

}  // namespace

void register_inspect(Napi::Env env, Napi::Object exports) {
  exports.Set("inspect", Napi::Function::New(env, inspect));
}

}  // namespace longhand
