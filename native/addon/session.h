// `Session`: every call is a job of the model's worker, in order.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>

#include "addon/operation.h"
#include "engine/session.h"

namespace longhand {

class SessionObject : public Napi::ObjectWrap<SessionObject> {
 public:
  // Made by Model.createSession only: the argument is an External<Open>.
  struct Open {
    std::shared_ptr<Session> session;
    std::shared_ptr<Worker> worker;
    Path generate_path = Path::fast;  // what the session's options say, else the defaults
    Path look_path = Path::exact;
  };
  explicit SessionObject(const Napi::CallbackInfo& info);
  ~SessionObject() override;

  static Napi::Value create(Napi::Env env, const std::shared_ptr<Model>& model, const std::shared_ptr<Worker>& worker,
                            const Napi::Value& options);

 private:
  friend void register_session(Napi::Env env, Napi::Object exports);
  Napi::Value context_length(const Napi::CallbackInfo& info);
  Napi::Value memory_bytes(const Napi::CallbackInfo& info);
  Napi::Value tokens(const Napi::CallbackInfo& info);
  Napi::Value generate(const Napi::CallbackInfo& info);
  Napi::Value read(const Napi::CallbackInfo& info);
  Napi::Value logits(const Napi::CallbackInfo& info);
  Napi::Value score(const Napi::CallbackInfo& info);
  Napi::Value trace(const Napi::CallbackInfo& info);
  Napi::Value states(const Napi::CallbackInfo& info);
  Napi::Value snapshot(const Napi::CallbackInfo& info);
  Napi::Value snapshots(const Napi::CallbackInfo& info);
  Napi::Value rewind(const Napi::CallbackInfo& info);
  Napi::Value reset(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);

  struct Answering;
  Napi::Promise answer(Answering answering);
  using Work = std::function<Operation::Convert(Session&)>;
  Napi::Promise queue(const std::shared_ptr<Operation>& operation, CancelFlag cancel, Work work);
  Napi::Promise queue(Napi::Env env, Work work);
  Session& session(Napi::Env env) const;  // throws `state` after close
  void let_go();

  Open open_;
};

}  // namespace longhand
