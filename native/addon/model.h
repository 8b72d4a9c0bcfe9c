// `Model` and `load`.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/devices.h"
#include "engine/model.h"

namespace longhand {

class ModelObject : public Napi::ObjectWrap<ModelObject> {
 public:
  // Made by `load` only: the argument is an External<OpenModel>.
  struct Open {
    std::shared_ptr<Model> model;
    std::shared_ptr<Worker> worker;
    std::string device;
    std::shared_ptr<Observations> observed{};
  };
  explicit ModelObject(const Napi::CallbackInfo& info);
  ~ModelObject() override;

 private:
  friend void register_model(Napi::Env env, Napi::Object exports);
  Napi::Value description(const Napi::CallbackInfo& info);
  Napi::Value device(const Napi::CallbackInfo& info);
  Napi::Value packed(const Napi::CallbackInfo& info);
  Napi::Value vocabulary_size(const Napi::CallbackInfo& info);
  Napi::Value context_length(const Napi::CallbackInfo& info);
  Napi::Value create_session(const Napi::CallbackInfo& info);
  Napi::Value observed(const Napi::CallbackInfo& info);
  Napi::Value embed(const Napi::CallbackInfo& info);
  Napi::Value rank(const Napi::CallbackInfo& info);
  Napi::Value expert_bytes_read(const Napi::CallbackInfo& info);
  Napi::Value scratch_bytes(const Napi::CallbackInfo& info);
  Napi::Value memory_plan(const Napi::CallbackInfo& info);
  Napi::Value prompt_cache(const Napi::CallbackInfo& info);
  void set_prompt_cache(const Napi::CallbackInfo& info);
  Napi::Value clear_prompt_cache(const Napi::CallbackInfo& info);
  Napi::Value set_prompt_cache_disk(const Napi::CallbackInfo& info);
  Napi::Value erase_prompt_cache(const Napi::CallbackInfo& info);
  Napi::Value flush_prompt_cache(const Napi::CallbackInfo& info);
  Napi::Value draft_logits(const Napi::CallbackInfo& info);
  Napi::Value see(const Napi::CallbackInfo& info);
  Napi::Value profile(const Napi::CallbackInfo& info);
  Napi::Value kernel_times(const Napi::CallbackInfo& info);
  void set_threads(const Napi::CallbackInfo& info);
  void relieve_memory(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);

  const Open& open(Napi::Env env) const;  // throws `state` after close
  void let_go();

  Open open_;
};

}  // namespace longhand
