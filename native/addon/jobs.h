// Putting the work of an operation on a worker.
#pragma once

#include "addon/environment.h"
#include "addon/operation.h"
#include "engine/error.h"
#include "engine/worker.h"

namespace longhand {

inline void post_job(Worker& worker, const std::shared_ptr<Operation>& operation, const void* owner, CancelFlag cancel,
                     std::function<Operation::Convert()> work) {
  worker.post({owner, std::move(cancel), [operation, work = std::move(work)](bool closed) {
                 operation->settle([&] {
                   if (closed) throw ClosedError("[engine] this model or session is closed");
                   return work();
                 });
                 return Turn::over;
               }});
}

// What reads files or asks the system has a thread of its own for as long as it takes.
inline Napi::Value on_own_thread(Napi::Env env, std::function<Operation::Convert()> work) {
  const auto operation = Operation::start(env);
  const Napi::Promise promise = operation->promise();
  const std::shared_ptr<Worker> worker = Environment::of(env).start_worker();
  post_job(*worker, operation, nullptr, nullptr, [worker, work = std::move(work)] { return work(); });
  return promise;
}

// Gives something to a worker for destruction: freeing gigabytes is no work for the JavaScript thread.
template <class Thing>
void destroy_on(Worker& worker, std::shared_ptr<Thing> thing) {
  worker.post({.run = [thing = std::move(thing)](bool) { return Turn::over; }, .computes = false});
}

}  // namespace longhand
