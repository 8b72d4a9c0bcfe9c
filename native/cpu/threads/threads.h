// A persistent pool. In a run every thread has a stretch of the indices, the same part in every run, so that what one
// op has left in the cache of a core the next op finds there. It takes them one at a time, and then those of others, so
// that a thread whose core is shared with another process simply does fewer. Workers spin briefly for the next run (ops
// follow each other within microseconds), then sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace longhand::cpu {

class Threads {
 public:
  explicit Threads(int count) { resize(count); }
  ~Threads() { resize(1); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return count_.load(); }
  // Includes the caller's thread. Fewer if the system refuses more.
  void resize(int count);

  // Calls task(i) once for every i in [0, count), in any order; returns when all are done. With `cancel` set meanwhile,
  // the indices not yet begun are dropped; so they are when a task throws, and the first exception is thrown here.
  template <class Task>
  void run(int64_t count, const Task& task, const std::atomic<bool>* cancel = nullptr) {
    if (count <= 0) return;
    start({[](const void* context, int64_t i) { (*static_cast<const Task*>(context))(i); }, &task, count, cancel});
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    void (*call)(const void*, int64_t) = nullptr;
    const void* context = nullptr;
    int64_t count = 0;
    const std::atomic<bool>* cancel = nullptr;
  };
  // Indices [next, end), on a cache line of its own.
  struct alignas(64) Stretch {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  void start(const Job& job);
  void share(const Job& job);
  void cut(int64_t count, int parts);
  void work_on(const Job& job, int own);
  bool wait_for_workers();
  void lost_a_core(Clock::time_point now);
  void leave();
  void worker(int own, uint64_t seen);

  // generation << 16 | closed << 15 | workers inside. A worker enters by adding one while the job is open; a worker
  // that wakes too late finds it closed and is not waited for.
  static constexpr uint64_t generation_shift = 16, closed = 1 << 15, inside_mask = closed - 1;

  std::vector<std::thread> workers_;
  std::atomic<int> count_{1};
  // Written only while closed and nobody is inside, all but Stretch::next:
  Job job_;
  std::unique_ptr<Stretch[]> stretches_ = std::make_unique<Stretch[]>(1);
  int parts_ = 1;
  std::atomic<uint64_t> state_{closed};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> waiting_{false};  // the caller sleeps until the last worker leaves
  // Until this time runs use the caller's thread only, because another process occupies one of the cores.
  Clock::time_point alone_until_{}, lost_at_{};
  Clock::duration alone_for_{};
  std::exception_ptr failure_;  // of this run; written with mutex_ held
  std::mutex mutex_;
  std::condition_variable wake_, left_;
};

}  // namespace longhand::cpu
