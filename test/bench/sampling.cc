// The cost of sampling a token: this engine's way, which ranks only what it keeps, against the usual way, which sorts the
// vocabulary. Both in turn on the same logits; processor time, the minimum of all runs.
//   c++ -std=c++20 -O2 -I native test/bench/sampling.cc -o build/sampling && build/sampling
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

#include "ops/sampling.h"

namespace {

using longhand::Sampling;
using longhand::sampling::Scored;

constexpr int tries = 60;

// The shape of a model's logits: a wide bell, and a few tokens well above it.
std::vector<float> logits_of(int64_t vocabulary, uint64_t seed) {
  std::vector<float> logits;
  for (int64_t i = 0; i < vocabulary; ++i) {
    double sum = 0;
    for (uint64_t part = 0; part < 6; ++part)
      sum += longhand::sampling::uniform(seed, static_cast<uint64_t>(i) * 6 + part) - 0.5;
    logits.push_back(static_cast<float>(3.0 * sum + (i % 5003 == 17 ? 8.0 : 0.0)));
  }
  return logits;
}

int32_t ours(const std::vector<float>& logits, const Sampling& options) {
  const auto sum_exp = [](const float* scores, float peak, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(std::exp(scores[i] - peak));
    return sum;
  };
  return longhand::sampling::choose(logits.data(), static_cast<int64_t>(logits.size()), options, {}, {}, sum_exp)
      .token.id;
}

int32_t sorting(const std::vector<float>& logits, const Sampling& options) {
  std::vector<Scored> ranked;
  for (size_t i = 0; i < logits.size(); ++i)
    ranked.push_back({logits[i] / options.temperature, static_cast<int32_t>(i)});
  std::sort(ranked.begin(), ranked.end(),
            [](const Scored& a, const Scored& b) { return longhand::sampling::comes_after(b, a); });
  if (options.top_k > 0) ranked.resize(std::min(ranked.size(), static_cast<size_t>(options.top_k)));
  const float peak = ranked[0].logit;
  double total = 0, sum = 0;
  for (const Scored& token : ranked) total += std::exp(static_cast<double>(token.logit - peak));
  size_t kept = 0;
  while (kept < ranked.size() && (kept == 0 || sum < static_cast<double>(options.top_p) * total))
    sum += std::exp(static_cast<double>(ranked[kept++].logit - peak));
  ranked.resize(kept);
  std::sort(ranked.begin(), ranked.end(), [](const Scored& a, const Scored& b) { return a.id < b.id; });
  return longhand::sampling::pick(ranked, peak, longhand::sampling::uniform(options.seed, options.position));
}

double microseconds(int32_t (*choose)(const std::vector<float>&, const Sampling&), const std::vector<float>& logits,
                    const Sampling& options, int32_t& id) {
  timespec began{}, ended{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
  id = choose(logits, options);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
  return 1e6 * static_cast<double>(ended.tv_sec - began.tv_sec) +
         1e-3 * static_cast<double>(ended.tv_nsec - began.tv_nsec);
}

}  // namespace

int main() {
  struct Row {
    const char* name;
    Sampling options;
  };
  const Row rows[] = {{"temperature 1", {.temperature = 1.0f}},
                      {"top-p 0.95", {.temperature = 0.6f, .top_p = 0.95f}},
                      {"top-k 20, top-p 0.95", {.temperature = 0.6f, .top_k = 20, .top_p = 0.95f}}};
  int different = 0;
  for (const int64_t vocabulary : {49'152, 151'936, 248'320}) {
    for (const Row& row : rows) {
      double own = 1e12, other = 1e12;
      for (int i = 0; i < tries; ++i) {
        Sampling options = row.options;
        options.position = static_cast<uint64_t>(i);
        const std::vector<float> logits = logits_of(vocabulary, static_cast<uint64_t>(i % 4));
        int32_t a = 0, b = 0;
        own = std::min(own, microseconds(ours, logits, options, a));
        other = std::min(other, microseconds(sorting, logits, options, b));
        different += a != b;
      }
      std::printf("%lld tokens, %s: %.0f us, sorting %.0f us, %.1f times\n", static_cast<long long>(vocabulary),
                  row.name, own, other, other / own);
    }
  }
  if (different) std::printf("%d choices differ\n", different);
  return different ? 1 : 0;
}
