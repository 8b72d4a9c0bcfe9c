// For ThreadSanitizer: a model on its worker, two sessions, and a main thread that looks, cancels and closes meanwhile,
// as the addon does.
//   sessions FOLDER        a model of test/golden
#include <atomic>
#include <cstdio>
#include <future>
#include <thread>

#include "engine/model.h"
#include "engine/session.h"

namespace longhand {
namespace {

template <class Work>
auto on(Worker& worker, const void* owner, const CancelFlag& cancel, Work work) {
  auto promise = std::make_shared<std::promise<decltype(work())>>();
  auto future = promise->get_future();
  worker.post({owner, cancel, [promise, work = std::move(work)](bool) { promise->set_value(work()); }});
  return future;
}

GenerateResult write(Session& session, int seed, const CancelFlag& cancel, std::atomic<int>& written) {
  const std::vector<int32_t> prompt{1, 2, 3, 4, 5, 6, 7, 8, 9, static_cast<int32_t>(10 + seed % 5)};
  GenerateOptions options;
  options.sampling.sampling.temperature = 1;
  options.sampling.sampling.seed = static_cast<uint64_t>(seed);
  options.max_tokens = 24;
  options.cancel = cancel.get();
  options.on_token = [&](const TokenEvent&) { ++written; };
  return session.generate(prompt, options);
}

int run(const char* folder) {
  const auto worker = std::make_shared<Worker>();
  std::atomic<size_t> loaded{0};
  auto loading = on(*worker, nullptr, make_cancel_flag(), [&] {
    LoadRequest request{folder, create_cpu({.threads = 3}).backend, true, {}};
    request.progress.report = [&](size_t done, size_t) { loaded = done; };
    return std::make_shared<Model>(std::move(request), worker);
  });
  std::shared_ptr<Model> model = loading.get();
  auto first = std::make_shared<Session>(model, SessionOptions{.context = 256});
  auto second = std::make_shared<Session>(model, SessionOptions{.context = 256, .cache = CacheType::q8});
  int cancelled = 0;
  size_t seen = 0;
  for (int round = 0; round < 8; ++round) {
    std::atomic<int> written{0};
    const CancelFlag cancel = make_cancel_flag(), never = make_cancel_flag();
    auto a = on(*worker, first.get(), cancel, [&] { return write(*first, round, cancel, written); });
    auto b = on(*worker, second.get(), never, [&] { return write(*second, round, never, written); });
    while (written < 3 + round) seen += first->tokens().size() + second->snapshots().size();
    cancel->store(true);
    cancelled += a.get().finish == Finish::cancelled;
    if (b.get().tokens.size() != 24) return std::puts("[sessions] the other session was disturbed"), 1;
    model->backend().set_threads(1 + round % 4);
  }
  // A session that closes in the middle of its answer.
  std::atomic<int> written{0};
  const CancelFlag flag = make_cancel_flag();
  auto last = on(*worker, first.get(), flag, [&] { return write(*first, 9, flag, written); });
  while (written < 2) std::this_thread::yield();
  worker->close_owner(first.get());
  last.get();
  worker->close();
  worker->state()->wait_finished();
  std::printf("no race, %d of 8 cancelled, %zu looked at\n", cancelled, seen);
  return loaded > 0 && cancelled > 0 ? 0 : 1;
}

}  // namespace
}  // namespace longhand

int main(int, char** arguments) { return longhand::run(arguments[1]); }
