#include "cpu/threads/threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace longhand::cpu {
namespace {

// Long enough to bridge the gap between two ops, short enough not to steal a core from the rest of the app.
constexpr auto spin_time = std::chrono::microseconds(60);
constexpr int spins_between_looks_at_the_clock = 64;
constexpr int spins_before_sleep = 4096;
// How long a core taken by another process is left to it before it is tried again; doubled each time it is still taken.
constexpr auto least_alone = std::chrono::milliseconds(8), most_alone = std::chrono::milliseconds(64);
constexpr auto turns = std::chrono::milliseconds(8);  // losses further apart than this are unrelated

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Threads::resize(int count) {
  stop_.store(true);
  {
    const std::lock_guard lock(mutex_);
  }
  wake_.notify_all();
  for (std::thread& thread : workers_) thread.join();
  workers_.clear();
  stop_.store(false);
  stretches_ = std::make_unique<Stretch[]>(static_cast<size_t>(std::max(count, 1)));
  const uint64_t seen = state_.load() >> generation_shift;
  try {
    for (int i = 1; i < count; ++i) workers_.emplace_back([this, i, seen] { worker(i, seen); });
  } catch (const std::system_error&) {
    // No memory for another stack, or a limit of the system: the existing threads do the work.
  }
  count_.store(static_cast<int>(workers_.size()) + 1);
}

void Threads::cut(int64_t count, int parts) {
  parts_ = parts;
  for (int part = 0; part < parts; ++part) {
    stretches_[static_cast<size_t>(part)].next.store(count * part / parts, std::memory_order_relaxed);
    stretches_[static_cast<size_t>(part)].end = count * (part + 1) / parts;
  }
}

void Threads::work_on(const Job& job, int own) {
  for (int after = 0; after < parts_; ++after) {
    Stretch& stretch = stretches_[static_cast<size_t>((own + after) % parts_)];
    while (true) {
      const int64_t i = stretch.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= stretch.end) break;
      if (job.cancel && job.cancel->load(std::memory_order_relaxed)) return;
      try {
        job.call(job.context, i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        for (int part = 0; part < parts_; ++part)
          stretches_[static_cast<size_t>(part)].next.store(job.count, std::memory_order_relaxed);
      }
    }
  }
}

void Threads::start(const Job& job) {
  const bool alone = workers_.empty() || job.count == 1 || Clock::now() < alone_until_;
  cut(job.count, alone ? 1 : count());
  if (alone) work_on(job, 0);
  else share(job);
  // All workers have left, so nothing writes it any more.
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Threads::share(const Job& job) {
  job_ = job;
  const uint64_t generation = (state_.load(std::memory_order_relaxed) >> generation_shift) + 1;
  state_.store(generation << generation_shift, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) > 0) {
    {
      const std::lock_guard lock(mutex_);
    }
    wake_.notify_all();
  }
  const Clock::time_point began = Clock::now();
  work_on(job, 0);
  state_.fetch_or(closed, std::memory_order_acq_rel);
  const Clock::time_point worked = Clock::now();
  if (wait_for_workers()) return;
  const Clock::time_point now = Clock::now();
  if (now - worked > worked - began) lost_a_core(now);
}

// Waiting for a worker took longer than doing its work would have. Once may be chance, but a process that shares a
// core takes it again within milliseconds. Long runs, in which a worker with half a core still does its share, do not
// get here.
void Threads::lost_a_core(Clock::time_point now) {
  const bool again = now - lost_at_ < turns;
  lost_at_ = now;
  if (!again) return;
  const bool still_there = now - alone_until_ < turns;
  alone_for_ = still_there ? std::min<Clock::duration>(2 * alone_for_, most_alone) : least_alone;
  lost_at_ = alone_until_ = now + alone_for_;  // the next time it happens counts as again
}

// A worker may hold the last index on a core that another process has taken. Then this thread sleeps, so that the
// worker can move to this core: after a mere yield the core would stay ours. Returns false in that case.
bool Threads::wait_for_workers() {
  const auto inside = [&] { return (state_.load(std::memory_order_seq_cst) & inside_mask) != 0; };
  for (int spins = 0; spins < spins_before_sleep; ++spins) {
    if (!inside()) return true;
    relax();
  }
  std::unique_lock lock(mutex_);
  waiting_.store(true, std::memory_order_seq_cst);
  left_.wait(lock, [&] { return !inside(); });
  waiting_.store(false, std::memory_order_relaxed);
  return false;
}

void Threads::leave() {
  state_.fetch_sub(1, std::memory_order_seq_cst);
  if (!waiting_.load(std::memory_order_seq_cst)) return;
  {
    const std::lock_guard lock(mutex_);
  }
  left_.notify_one();
}

void Threads::worker(int own, uint64_t seen) {
  const auto nothing_new = [&] { return state_.load(std::memory_order_seq_cst) >> generation_shift == seen && !stop_; };
  while (true) {
    const auto deadline = std::chrono::steady_clock::now() + spin_time;
    for (int spins = 1; nothing_new(); ++spins) {
      relax();
      if (spins % spins_between_looks_at_the_clock || std::chrono::steady_clock::now() < deadline) continue;
      std::unique_lock lock(mutex_);
      sleeping_.fetch_add(1, std::memory_order_seq_cst);
      wake_.wait(lock, [&] { return !nothing_new(); });
      sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    }
    if (stop_) return;
    uint64_t state = state_.load(std::memory_order_acquire);
    seen = state >> generation_shift;
    while (!(state & closed) && !state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) {
    }
    if (state & closed) continue;
    seen = state >> generation_shift;
    work_on(job_, own);
    leave();
  }
}

}  // namespace longhand::cpu
