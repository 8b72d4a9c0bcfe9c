#include "addon/environment.h"

#include <algorithm>

#include "addon/registry.h"

namespace longhand {

std::shared_ptr<Worker> Environment::start_worker() {
  auto worker = std::make_shared<Worker>();
  std::erase_if(workers, [](const auto& state) { return state.expired(); });
  workers.push_back(worker->state());
  return worker;
}

// Native threads must not outlive the environment they report to: the running pass is cancelled (within 50 ms) and the
// threads end before this returns.
void create_environment(Napi::Env env, Napi::Object) {
  auto* environment = new Environment;
  env.SetInstanceData<Environment>(environment);
  env.AddCleanupHook(
      [](Environment* leaving) {
        std::vector<std::shared_ptr<Worker::State>> running;
        for (const auto& state : leaving->workers) {
          if (auto alive = state.lock()) running.push_back(std::move(alive));
        }
        for (const auto& state : running) state->close();
        for (const auto& state : running) state->wait_finished();
      },
      environment);
}

}  // namespace longhand
