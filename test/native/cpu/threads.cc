// A pool of two threads after a pause that is longer than its worker looks out for work.
//   threads WHAT
// together: how many of two threads meet in a run. late: a worker is still at it when the caller has done its part.
// same: of twenty runs in which both meet, in how many the caller has the first index. taken: of a hundred indices, how
// many are done, each once, while the thread that has the first is held up by it. idle: milliseconds of processor time
// in half a second without work.
#include "cpu/threads/threads.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using longhand::cpu::Threads;
using namespace std::chrono_literals;

constexpr auto rest = 500ms;
constexpr auto patience = 5s;
constexpr unsigned seconds_at_most = 20;

// Whether a second thread comes to a run while the first is in it.
bool meets(std::atomic<int>& inside, std::chrono::milliseconds most = patience) {
  ++inside;
  const auto end = std::chrono::steady_clock::now() + most;
  while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return inside == 2;
}

int together(Threads& threads) {
  std::atomic<int> inside{0}, met{0};
  threads.run(2, [&](int64_t) { met += meets(inside); });
  return met;
}

int late(Threads& threads) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> inside{0}, done{0};
  threads.run(2, [&](int64_t) {
    meets(inside);
    if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(100ms);
    ++done;
  });
  return done;
}

// A core may be taken by another process meanwhile: runs in which the two do not meet say nothing.
int same(Threads& threads) {
  const auto caller = std::this_thread::get_id();
  int met = 0, own = 0;
  for (int run = 0; run < 200 && met < 20; ++run) {
    std::atomic<int> inside{0}, together{0}, first{0};
    threads.run(2, [&](int64_t i) {
      together += meets(inside, 50ms);
      first += i == 0 && std::this_thread::get_id() == caller;
    });
    met += together == 2;
    own += together == 2 && first == 1;
  }
  return met > 0 ? 20 * own / met : 0;
}

int taken(Threads& threads) {
  constexpr int all = 100;
  std::array<std::atomic<int>, all> times{};
  std::atomic<int> others{0}, seen{0};
  threads.run(all, [&](int64_t i) {
    ++times[static_cast<size_t>(i)];
    if (i > 0) {
      ++others;
      return;
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    while (others < all - 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    seen = others + 1;
  });
  for (const std::atomic<int>& once : times)
    if (once != 1) return -1;
  return seen;
}

int64_t milliseconds_of_processors() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto milliseconds = [](const timeval& time) { return int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000; };
  return milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
}

}  // namespace

int main(int, char** arguments) {
  alarm(seconds_at_most);  // instead of waiting for ever
  const std::string what = arguments[1];
  Threads threads(2);
  std::this_thread::sleep_for(rest);
  int64_t number = 0;
  if (what == "together") number = together(threads);
  if (what == "late") number = late(threads);
  if (what == "same") number = same(threads);
  if (what == "taken") number = taken(threads);
  if (what == "idle") {
    const int64_t before = milliseconds_of_processors();
    std::this_thread::sleep_for(rest);
    number = milliseconds_of_processors() - before;
  }
  std::printf("%lld\n", static_cast<long long>(number));
  return 0;
}
