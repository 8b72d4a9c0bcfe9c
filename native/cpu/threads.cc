#include "cpu/threads.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace longhand::cpu {
namespace {

// Long enough to bridge the gap between two ops, short enough not to steal a core from the rest of the app.
constexpr auto spin_time = std::chrono::microseconds(60);
constexpr int spins_between_looks_at_the_clock = 64;
constexpr int spins_before_yield = 4096;

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
  const uint64_t seen = state_.load() >> generation_shift;
  for (int i = 1; i < count; ++i) workers_.emplace_back([this, seen] { worker(seen); });
}

void Threads::work_on(const Job& job) {
  while (true) {
    const int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count || (job.cancel && job.cancel->load(std::memory_order_relaxed))) return;
    job.call(job.context, i);
  }
}

void Threads::start(const Job& job) {
  next_.store(0, std::memory_order_relaxed);
  if (workers_.empty() || job.count == 1) return work_on(job);
  job_ = job;
  const uint64_t generation = (state_.load(std::memory_order_relaxed) >> generation_shift) + 1;
  state_.store(generation << generation_shift, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) > 0) {
    {
      const std::lock_guard lock(mutex_);
    }
    wake_.notify_all();
  }
  work_on(job);
  state_.fetch_or(closed, std::memory_order_acq_rel);
  // A worker may hold its last index on a core that was taken away: after a while give this core to it.
  for (int spins = 0; state_.load(std::memory_order_acquire) & inside_mask; ++spins)
    spins < spins_before_yield ? relax() : std::this_thread::yield();
}

void Threads::worker(uint64_t seen) {
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
    work_on(job_);
    state_.fetch_sub(1, std::memory_order_release);
  }
}

namespace {

#if defined(__linux__)
// cgroup v2: "<quota> <period>" or "max <period>"; v1: two files, -1 for no limit.
double cgroup_cores() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period && quota != "max" && period > 0)
    return std::stod(quota) / period;
  double limit = -1;
  if (std::ifstream file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"); file >> limit && limit > 0)
    if (std::ifstream other("/sys/fs/cgroup/cpu/cpu.cfs_period_us"); other >> period && period > 0)
      return limit / period;
  return 1e9;
}

int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return static_cast<int>(std::thread::hardware_concurrency());
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::string siblings;
    std::getline(file, siblings);
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  return static_cast<int>(cores.size());
}
#elif defined(__APPLE__)
double cgroup_cores() { return 1e9; }
int physical_cores() {
  int cores = 0;
  size_t bytes = sizeof cores;
  if (sysctlbyname("hw.perflevel0.physicalcpu", &cores, &bytes, nullptr, 0) == 0) return cores;
  return static_cast<int>(std::thread::hardware_concurrency());
}
#else
double cgroup_cores() { return 1e9; }
int physical_cores() { return static_cast<int>(std::thread::hardware_concurrency()); }
#endif

}  // namespace

int usable_cores() {
  return std::max(1, std::min(physical_cores(), static_cast<int>(std::min(1e6, std::ceil(cgroup_cores())))));
}

}  // namespace longhand::cpu
