#include "addon/operation.h"

#include "addon/values/errors.h"

namespace longhand {

std::shared_ptr<Operation> Operation::start(Napi::Env env, std::initializer_list<Napi::Value> callbacks) {
  std::shared_ptr<Operation> operation(new Operation);
  auto* javascript = new Javascript(env);
  for (const Napi::Value callback : callbacks) {
    javascript->callbacks.push_back(callback.IsFunction() ? Napi::Persistent(callback.As<Napi::Function>())
                                                          : Napi::FunctionReference());
  }
  operation->promise_ = javascript;
  operation->channel_ = Channel::New(
      env, "longhand", 0, 1, javascript, [](Napi::Env, void*, Javascript* context) { delete context; },
      static_cast<void*>(nullptr));
  return operation;
}

Operation::~Operation() {
  if (!closed_) channel_.Release();
}

void Operation::call(Napi::Env env, Napi::Function, Javascript* javascript, OnJavascript* action) {
  const std::unique_ptr<OnJavascript> owned(action);
  if (env == nullptr) return;
  const Napi::HandleScope scope(env);
  (*owned)(env, *javascript);
}

void Operation::post(OnJavascript action) {
  const std::lock_guard lock(posting_);
  if (closed_) return;
  auto owned = std::make_unique<OnJavascript>(std::move(action));
  const napi_status status = channel_.NonBlockingCall(owned.get());
  if (status == napi_ok) {
    owned.release();
  } else {
    closed_ = true;
  }
}

void Operation::settle(const std::function<Convert()>& work) {
  try {
    post([convert = work()](Napi::Env env, Javascript& javascript) { javascript.deferred.Resolve(convert(env)); });
  } catch (...) {
    post([text = error_text(std::current_exception())](Napi::Env env, Javascript& javascript) {
      javascript.deferred.Reject(coded_error(env, text.code, text.message).Value());
    });
  }
}

}  // namespace longhand
