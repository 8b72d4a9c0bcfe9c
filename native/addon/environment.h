// State of one JavaScript environment (a process, or one worker thread of it).
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "engine/worker.h"

namespace longhand {

struct Environment {
  Napi::FunctionReference model, session, abort_flag, weight_source, grammar, vocabulary;  // constructors
  std::vector<std::weak_ptr<Worker::State>> workers;

  static Environment& of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }
  // A worker that is stopped, and waited for, before the environment goes away.
  std::shared_ptr<Worker> start_worker();
};

}  // namespace longhand
