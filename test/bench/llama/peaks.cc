// Peak performance of this processor on THREADS threads: bytes read from memory per second, and 8-bit products per second of the
// best dot product it has. Compiled for the machine it runs on (-march=native).
//   peaks THREADS        prints {"read": bytes/s, "products": MAC/s}, the best of several attempts
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

constexpr size_t words = (size_t{512} << 20) / sizeof(uint64_t);  // far larger than any cache
constexpr size_t huge_page = size_t{2} << 20;
constexpr int tries = 7, chains = 12;
constexpr int64_t rounds = 8'000'000;

#if defined(__AVX512VNNI__)
using Sums = __m512i;
Sums multiply(Sums sums) { return _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(3), _mm512_set1_epi8(2)); }
#elif defined(__AVXVNNI__)
using Sums = __m256i;
Sums multiply(Sums sums) { return _mm256_dpbusd_avx_epi32(sums, _mm256_set1_epi8(3), _mm256_set1_epi8(2)); }
#elif defined(__AVX2__)
using Sums = __m256i;
Sums multiply(Sums sums) {
  __m256i codes = _mm256_set1_epi8(3);
  asm volatile("" : "+x"(codes));
  const __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi8(2));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#elif defined(__ARM_FEATURE_DOTPROD)
using Sums = int32x4_t;
Sums multiply(Sums sums) { return vdotq_s32(sums, vdupq_n_s8(3), vdupq_n_s8(2)); }
#else
using Sums = int32_t;
Sums multiply(Sums sums) { return sums + 6; }
#endif

#if defined(__x86_64__)
#define KEEP(x) asm volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define KEEP(x) asm volatile("" : "+w"(x))
#else
#define KEEP(x) asm volatile("" : "+r"(x))
#endif

// Twelve independent chains hide the latency of a product.
int64_t products() {
  Sums sums[chains] = {};
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) {
      sums[i] = multiply(sums[i]);
      KEEP(sums[i]);
    }
  }
  return rounds * chains * static_cast<int64_t>(sizeof(Sums));  // a product a byte
}

// Two streams side by side, with prefetching into the cache of level `Level`: which level is faster differs between processors.
// Distant streams, or a single one, reach little more than half of this on one thread of a Zen 4.
template <int Level>
uint64_t read(const uint64_t* from, size_t count) {
  constexpr size_t run = 1024;
  uint64_t sums[8] = {};
  for (size_t at = 0; at + 2 * run <= count; at += 2 * run) {
    const uint64_t *first = from + at, *second = first + run;
    for (size_t i = 0; i < run; i += 8) {
      __builtin_prefetch(first + i + 2 * run, 0, 4 - Level);
      __builtin_prefetch(second + i + 2 * run, 0, 4 - Level);
      for (size_t lane = 0; lane < 8; ++lane) sums[lane] ^= first[i + lane] ^ second[i + lane];
    }
  }
  return sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
}

// Seconds until `threads` threads, started together, have finished work(i).
template <class Work>
double seconds(int threads, const Work& work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      ++ready;
      while (!go) std::this_thread::yield();
      work(i);
    });
  }
  while (ready < threads) std::this_thread::yield();
  const auto began = std::chrono::steady_clock::now();
  go = true;
  for (std::thread& thread : all) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

int main(int, char** arguments) {
  const int threads = std::max(1, std::atoi(arguments[1]));
  const std::unique_ptr<uint64_t[], decltype(&std::free)> memory(
      static_cast<uint64_t*>(std::aligned_alloc(huge_page, words * sizeof(uint64_t))), &std::free);
  if (!memory) return 1;
#if defined(MADV_HUGEPAGE)
  madvise(memory.get(), words * sizeof(uint64_t), MADV_HUGEPAGE);  // as the engine keeps its weights
#endif
  for (size_t i = 0; i < words; ++i) memory[i] = i;
  const size_t part = words / static_cast<size_t>(threads);
  std::atomic<uint64_t> used{0};
  std::atomic<int64_t> done{0};
  double read_best = 0, product_best = 0;
  for (int i = 0; i < tries; ++i) {
    const auto reading = [&](auto way) {
      return seconds(threads, [&](int t) { used ^= way(memory.get() + static_cast<size_t>(t) * part, part); });
    };
    const double fastest = std::min(reading(read<1>), reading(read<2>));
    done = 0;
    const double multiplying = seconds(threads, [&](int) { done += products(); });
    read_best = std::max(read_best, static_cast<double>(part * 8) * threads / fastest);
    product_best = std::max(product_best, static_cast<double>(done.load()) / multiplying);
  }
  std::printf("{\"read\": %.0f, \"products\": %.0f}\n", read_best, product_best);
  return used == 1 ? 2 : 0;
}
