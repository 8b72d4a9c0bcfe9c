#include "engine/machine/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/machine/available_memory.h"

namespace longhand {

namespace {

constexpr size_t words = (size_t{256} << 20) / sizeof(uint64_t);  // far larger than any cache
constexpr int passes = 4;

// Eight sums, so that loads do not wait for additions.
uint64_t sum(const uint64_t* from, size_t count) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += from[i + lane];
  uint64_t total = 0;
  for (const uint64_t one : sums) total += one;
  return total;
}

// Each thread reads its own part of [0, words). If the system cannot start more threads, this one reads the remaining
// parts.
template <class Work>
void on_all_cores(unsigned cores, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(cores);
  const size_t part = words / cores;
  unsigned begun = 0;
  try {
    for (; begun < cores; ++begun) threads.emplace_back([&work, part, i = begun] { work(i * part, part); });
  } catch (const std::system_error&) {
    for (; begun < cores; ++begun) work(begun * part, part);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

double memory_bandwidth() {
  if (available_memory() < 2 * words * sizeof(uint64_t)) return 0;
  const std::unique_ptr<uint64_t[]> memory(new (std::nothrow) uint64_t[words]);
  if (!memory) return 0;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, 64u);
  on_all_cores(cores, [&](size_t from, size_t count) { std::fill_n(memory.get() + from, count, uint64_t{1}); });
  std::atomic<uint64_t> used{0};  // keeps the compiler from removing the reads
  double best = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const auto began = std::chrono::steady_clock::now();
    on_all_cores(cores, [&](size_t from, size_t count) { used += sum(memory.get() + from, count); });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    best = std::max(best, static_cast<double>(words * sizeof(uint64_t)) / took.count());
  }
  return used > 0 ? best : 0;
}

}  // namespace longhand
