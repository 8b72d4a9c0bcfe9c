// The cost of lightning attention in prefill, per token and head of 128 by 128: many tokens at once (chunks, as masked matrix
// products) against few at a time, which are processed one by one. Both in turn, on every available instruction set, with rows as
// far apart as in MiniCPM-SALA; processor time, the minimum of all runs.
//   c++ -std=c++20 -O2 -I native test/bench/lightning.cc build/native/libcpu.a build/native/libformats.a -pthread
//       -o build/lightning && build/lightning
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "cpu/kernels/kernels.h"

namespace {

using longhand::cpu::GlaTile;
using longhand::cpu::Kernels;

constexpr int tries = 100;
constexpr int64_t dim = 128, tokens = 512, stride = 3 * 4096, few = 8;

std::vector<float> numbers(int64_t count, int64_t period) {
  std::vector<float> x;
  for (int64_t i = 0; i < count; ++i) x.push_back(0.01f * static_cast<float>(i % period - period / 2));
  return x;
}

struct Head {
  std::vector<float> q = numbers(tokens * stride, 13), k = numbers(tokens * stride, 11),
                     v = numbers(tokens * stride, 17), o = numbers(tokens * stride, 7), S = numbers(dim * dim, 5);

  void run(const Kernels& kernels, int64_t at_once) {
    for (int64_t t = 0; t < tokens; t += at_once)
      kernels.gla({.S = S.data(),
                   .key_dim = dim,
                   .value_dim = dim,
                   .q = q.data() + t * stride,
                   .k = k.data() + t * stride,
                   .v = v.data() + t * stride,
                   .q_stride = stride,
                   .k_stride = stride,
                   .v_stride = stride,
                   .tokens = at_once,
                   .decay = 0.98f,
                   .scale = 0.1f,
                   .o = o.data() + t * stride,
                   .o_stride = stride});
  }
};

double seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main() {
  Head head;
  for (const Kernels* kernels : longhand::cpu::available_kernels()) {
    double least[] = {1e9, 1e9};
    for (int i = 0; i < tries; ++i) {
      for (const bool together : {false, true}) {
        const double start = seconds();
        head.run(*kernels, together ? tokens : few);
        least[together] = std::min(least[together], seconds() - start);
      }
    }
    std::printf("%-12s token after token %5.0f ns, chunks %5.0f ns\n", kernels->name, 1e9 * least[0] / tokens,
                1e9 * least[1] / tokens);
  }
}
