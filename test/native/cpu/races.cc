// For ThreadSanitizer: the thread pool at its edges, and a small model on four threads while another one cancels it.
#include <atomic>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

#include "cpu/threads/threads.h"
#include "small_model.h"

namespace longhand {
namespace {

int wrong = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("[races] %s\n", what);
  ++wrong;
}

// Every index once, and what the tasks wrote is there when the run returns: plain memory, nothing atomic.
void every_index_once() {
  cpu::Threads threads(4);
  std::vector<int> seen;
  for (int round = 0; round < 200; ++round) {
    const int64_t count = round % 7 * 11;
    seen.assign(static_cast<size_t>(count), 0);
    threads.run(count, [&](int64_t i) { seen[static_cast<size_t>(i)] += static_cast<int>(i) + round; });
    for (int64_t i = 0; i < count; ++i)
      expect(seen[static_cast<size_t>(i)] == static_cast<int>(i) + round, "an index ran twice or never");
    if (round % 50 == 49) threads.resize(1 + round / 50 % 5);
    // Longer than the workers spin: the next run has to wake them.
    if (round % 40 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void cancelled_run() {
  cpu::Threads threads(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> cancel{false};
    std::atomic<int64_t> begun{0};
    threads.run(
        1000,
        [&](int64_t) {
          if (begun.fetch_add(1) >= 20) cancel = true;  // so that no thread begins two after this
        },
        &cancel);
    expect(begun >= 21 && begun <= 23, "a cancelled run went on, or ended before its end");
  }
}

// A task that throws, on whichever thread: the run ends at once with its exception, and the pool is as before.
void failing_run() {
  cpu::Threads threads(3);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int64_t> done{0};
    bool thrown = false;
    try {
      threads.run(1 + round * 50, [&](int64_t i) {
        if (i == round) throw std::bad_alloc();
        ++done;
      });
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    expect(thrown, "an exception of a task was lost");
    done = 0;
    threads.run(100, [&](int64_t) { ++done; });
    expect(done == 100, "after a task that failed the pool does not do all of its work");
  }
}

// What was not begun when a task failed is left out: here it would take more than ten seconds.
void failing_run_ends() {
  cpu::Threads threads(3);
  std::atomic<int64_t> done{0};
  try {
    threads.run(30'000, [&](int64_t i) {
      if (i == 2) throw std::bad_alloc();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++done;
    });
  } catch (const std::bad_alloc&) {
  }
  expect(done < 15'000, "a run whose task failed went on");
}

Creation four_threads() { return create_cpu({.threads = 4}); }

void same_on_any_number_of_threads() {
  const auto many = four_threads().backend, one = create_cpu({.threads = 1}).backend;
  testing::SmallModel wide(*many), narrow(*one);
  for (const Path path : {Path::exact, Path::fast}) {
    const std::vector<float> expected = narrow.run(4, 4, 1, path);
    expect(wide.run(4, 4, 1, path) == expected, "four threads compute something else than one");
    many->set_threads(3);
    expect(wide.run(4, 3, 1, path) == expected, "other passes on three threads compute something else");
    many->set_threads(4);
  }
}

// Cancelled anywhere, the back end can be used again at once.
void cancelled_model() {
  const auto backend = four_threads().backend;
  testing::SmallModel model(*backend);
  const std::vector<float> expected = model.run(2, 2, 0, Path::fast);
  int cancelled = 0;
  for (int round = 0; round < 4; ++round) {
    std::atomic<bool> cancel{false};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(round));
      cancel = true;
    });
    try {
      while (true) model.run(2, 2, 0, Path::fast, &cancel);
    } catch (const Cancelled&) {
      ++cancelled;
    }
    other.join();
    expect(model.run(2, 2, 0, Path::fast) == expected, "a cancelled pass left something behind");
  }
  expect(cancelled == 4, "a pass was not cancelled");
}

}  // namespace
}  // namespace longhand

int main() {
  longhand::every_index_once();
  longhand::cancelled_run();
  longhand::failing_run();
  longhand::failing_run_ends();
  longhand::same_on_any_number_of_threads();
  longhand::cancelled_model();
  std::puts(longhand::wrong == 0 ? "no race, nothing wrong" : "wrong");
  return longhand::wrong == 0 ? 0 : 1;
}
