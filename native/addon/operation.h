// A promise whose work happens on a native thread. JavaScript values are touched on the JavaScript thread only:
// native threads post closures, which are dropped when the environment goes away first.
#pragma once

#include <napi.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace longhand {

class Operation : public std::enable_shared_from_this<Operation> {
 public:
  // Lives as long as the JavaScript thread may still need it.
  struct Javascript {
    explicit Javascript(Napi::Env env) : deferred(env) {}
    Napi::Promise::Deferred deferred;
    std::vector<Napi::FunctionReference> callbacks;
  };
  using OnJavascript = std::function<void(Napi::Env, Javascript&)>;
  using Convert = std::function<Napi::Value(Napi::Env)>;

  // `callbacks` may hold undefined for those that were not given.
  static std::shared_ptr<Operation> start(Napi::Env env, std::initializer_list<Napi::Value> callbacks = {});
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // The JavaScript thread, right after start().
  Napi::Promise promise() const { return promise_->deferred.Promise(); }

  // Any thread.
  void post(OnJavascript action);
  // Runs `work` and settles the promise with what its result converts to, or with its error and code.
  void settle(const std::function<Convert()>& work);

 private:
  static void call(Napi::Env env, Napi::Function, Javascript* javascript, OnJavascript* action);
  using Channel = Napi::TypedThreadSafeFunction<Javascript, OnJavascript, call>;

  Operation() = default;

  Channel channel_;
  Javascript* promise_ = nullptr;  // owned by the channel's finaliser
  std::mutex posting_;
  bool closed_ = false;  // the environment is gone
};

}  // namespace longhand
