// What a model keeps in memory and on disk besides its weights, and giving it back.
#include <optional>
#include <span>

#include "addon/devices.h"
#include "addon/jobs.h"
#include "addon/model.h"
#include "addon/values/convert.h"
#include "addon/values/errors.h"
#include "addon/values/options.h"
#include "addon/values/values.h"
#include "engine/prompt_cache/store_key.h"

namespace longhand {

namespace {

// The key of the cache on disk; null where there is none. Its value is in no message.
std::shared_ptr<const StoreKey> store_key(Napi::Env env, const Options& options) {
  if (!options.has("key")) return nullptr;
  const std::optional<std::span<const std::byte>> bytes = bytes_of(options.get("key"));
  if (!bytes || bytes->size() != StoreKey::bytes) {
    const std::string came = bytes ? "has " + std::to_string(bytes->size()) + " bytes" : "is of another kind";
    throw coded_error(env, "argument", "[setPromptCacheDisk] key " + came + ", expected a Uint8Array of 32 bytes");
  }
  return std::make_shared<const StoreKey>(bytes->first<StoreKey::bytes>());
}

}  // namespace

Napi::Value ModelObject::prompt_cache(const Napi::CallbackInfo& info) {
  const PromptCache& cache = open(info.Env()).model->prompt_cache();
  Napi::Object out = Napi::Object::New(info.Env());
  out.Set("budgetBytes", static_cast<double>(cache.budget()));
  out.Set("bytes", static_cast<double>(cache.bytes()));
  const std::shared_ptr<DiskTier> disk = cache.disk();
  out.Set("diskBytes", static_cast<double>(disk ? disk->bytes() : 0));
  out.Set("diskBudgetBytes", static_cast<double>(disk ? disk->budget() : 0));
  return out;
}

// Anything above a smaller budget is dropped before the next job.
void ModelObject::set_prompt_cache(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const double bytes = info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
  if (!(bytes >= 0 && bytes <= 9007199254740991.0))
    throw coded_error(info.Env(), "argument", "[model] setPromptCache takes a number of bytes, 0 and more");
  opened.model->prompt_cache().set_budget(static_cast<uint64_t>(bytes));
  opened.worker->post({.run =
                           [model = opened.model](bool) {
                             model->prompt_cache().fit();
                             return Turn::over;
                           },
                       .computes = false});
}

Napi::Value ModelObject::clear_prompt_cache(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, nullptr, [model = opened.model]() -> Operation::Convert {
    model->prompt_cache().clear();
    if (const std::shared_ptr<DiskTier> disk = model->prompt_cache().disk()) disk->erase("");
    return [](Napi::Env js) -> Napi::Value { return js.Undefined(); };
  });
  return promise;
}

Napi::Value ModelObject::set_prompt_cache_disk(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const Options options(info[0].IsNull() ? info.Env().Undefined() : info[0], "setPromptCacheDisk");
  const std::string folder = options.text("folder", "");
  const auto bytes = static_cast<uint64_t>(options.number("bytes", 0, 0, 9007199254740991.0));
  const std::shared_ptr<const StoreKey> key = store_key(info.Env(), options);
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  const auto use = [model = opened.model, folder, bytes, key]() -> Operation::Convert {
    PromptCache& cache = model->prompt_cache();
    std::shared_ptr<DiskTier> disk = cache.disk();
    const bool on = !folder.empty() && bytes > 0;
    if (on && disk && disk->is_at(folder, key.get())) {
      disk->set_budget(bytes);
    } else {
      // The last one ends before the next one looks at the folder: it may still be writing what the next one deletes.
      cache.use_disk(nullptr);
      disk.reset();
      const EntryOrigin origin{engine_build(), model->identity()};
      if (on) cache.use_disk(std::make_shared<DiskTier>(folder, bytes, origin, key));
    }
    return [](Napi::Env js) -> Napi::Value { return js.Undefined(); };
  };
  post_job(*opened.worker, operation, nullptr, nullptr, use);
  return promise;
}

// On a separate thread: the worker may be in the middle of a long answer.
Napi::Value ModelObject::erase_prompt_cache(const Napi::CallbackInfo& info) {
  const std::shared_ptr<DiskTier> disk = open(info.Env()).model->prompt_cache().disk();
  const std::string owner = owner_argument(info.Env(), string_argument(info, 0, "owner"));
  if (owner.empty()) throw coded_error(info.Env(), "argument", "[model] erasePromptCache takes the name of an owner");
  return on_own_thread(info.Env(), [disk, owner]() -> Operation::Convert {
    if (disk) disk->erase(owner);
    return [](Napi::Env js) -> Napi::Value { return js.Undefined(); };
  });
}

Napi::Value ModelObject::flush_prompt_cache(const Napi::CallbackInfo& info) {
  const std::shared_ptr<DiskTier> disk = open(info.Env()).model->prompt_cache().disk();
  return on_own_thread(info.Env(), [disk]() -> Operation::Convert {
    if (disk) disk->flush();
    return [](Napi::Env js) -> Napi::Value { return js.Undefined(); };
  });
}

void ModelObject::relieve_memory(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  opened.model->relieve_memory(Options(info[0], "relieveMemory").flag("critical", false));
}

}  // namespace longhand
