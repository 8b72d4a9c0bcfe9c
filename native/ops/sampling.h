// Choosing a token from a row of logits in host memory, the same for every back end. Every filter keeps a prefix of the
// vocabulary ordered by (logit descending, id ascending), so a heap popped only as far as needed takes the place of a
// sort. The pick walks the kept tokens in the order of their ids.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "ops/backend.h"

namespace longhand::sampling {

inline constexpr float forbidden = -std::numeric_limits<float>::infinity();

struct Scored {
  float logit;
  int32_t id;
};
inline bool comes_after(const Scored& a, const Scored& b) {
  return a.logit != b.logit ? a.logit < b.logit : a.id > b.id;
}

// Repetition -> frequency and presence -> bias. NaN counts as forbidden.
inline std::vector<float> penalised(const float* logits, int64_t vocabulary, const Sampling& options,
                                    std::span<const TokenCount> counts, std::span<const TokenBias> biases) {
  std::vector<float> scores(logits, logits + vocabulary);
  for (float& score : scores)
    if (std::isnan(score)) score = forbidden;
  for (const auto& [id, count] : counts) {
    if (id < 0 || id >= vocabulary || count <= 0) continue;
    float& score = scores[static_cast<size_t>(id)];
    score = score > 0 ? score / options.repetition_penalty : score * options.repetition_penalty;
    score -= options.presence_penalty + static_cast<float>(count) * options.frequency_penalty;
  }
  for (const auto& [id, bias] : biases)
    if (id >= 0 && id < vocabulary) scores[static_cast<size_t>(id)] += bias;
  return scores;
}

inline uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// In [0, 1), a function of seed and position only.
inline double uniform(uint64_t seed, uint64_t position) {
  return static_cast<double>(mix(mix(seed) ^ position) >> 11) * 0x1p-53;
}

// top-k -> top-p (of the distribution renormalised over the top k) -> min-p. Logits are divided by the temperature
// already.
inline std::vector<Scored> kept_tokens(std::vector<Scored> tokens, const Sampling& options, float peak) {
  const bool top_k = options.top_k > 0 && options.top_k < static_cast<int32_t>(tokens.size());
  if (top_k) {
    std::nth_element(tokens.begin(), tokens.begin() + options.top_k, tokens.end(),
                     [](const Scored& a, const Scored& b) { return comes_after(b, a); });
    tokens.resize(static_cast<size_t>(options.top_k));
  }
  if (options.top_p < 1.0f) {
    double total = 0;
    for (const Scored& token : tokens) total += std::exp(static_cast<double>(token.logit - peak));
    const double enough = static_cast<double>(options.top_p) * total;
    std::make_heap(tokens.begin(), tokens.end(), comes_after);
    auto end = tokens.end();  // [end, tokens.end()) is kept
    for (double sum = 0; end != tokens.begin() && (sum < enough || end == tokens.end());) {
      std::pop_heap(tokens.begin(), end, comes_after);
      --end;
      sum += std::exp(static_cast<double>(end->logit - peak));
    }
    tokens.erase(tokens.begin(), end);
  }
  if (options.min_p > 0.0f)
    std::erase_if(tokens, [&](const Scored& token) { return std::exp(token.logit - peak) < options.min_p; });
  std::sort(tokens.begin(), tokens.end(), [](const Scored& a, const Scored& b) { return a.id < b.id; });
  return tokens;
}

inline int32_t pick(const std::vector<Scored>& tokens, float peak, double random) {
  double total = 0;
  for (const Scored& token : tokens) total += std::exp(static_cast<double>(token.logit - peak));
  double left = random * total;
  for (const Scored& token : tokens) {
    left -= std::exp(static_cast<double>(token.logit - peak));
    if (left < 0) return token.id;
  }
  return tokens.back().id;
}

inline int32_t draw(const std::vector<float>& scores, const Sampling& options, float peak) {
  std::vector<Scored> tokens;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > forbidden) tokens.push_back({scores[i] / options.temperature, static_cast<int32_t>(i)});
  peak /= options.temperature;
  return pick(kept_tokens(std::move(tokens), options, peak), peak, uniform(options.seed, options.position));
}

// `sum_exp(scores, peak, count)` adds exp(score - peak) over a row: the one pass worth a vector kernel.
template <class SumExp>
Sampled choose(const float* logits, int64_t vocabulary, const Sampling& options, std::span<const TokenCount> counts,
               std::span<const TokenBias> biases, const SumExp& sum_exp) {
  const std::vector<float> scores = penalised(logits, vocabulary, options, counts, biases);
  const auto best = std::max_element(scores.begin(), scores.end());  // the first of equals
  const double sum = sum_exp(scores.data(), *best, vocabulary);
  const float log_total = *best + static_cast<float>(std::log(sum));
  const bool greedy = options.temperature <= 0.0f || *best == forbidden;
  const int32_t id = greedy ? static_cast<int32_t>(best - scores.begin()) : draw(scores, options, *best);

  Sampled sampled{{id, scores[static_cast<size_t>(id)] - log_total}, {}};
  std::vector<Scored> order;
  for (size_t i = 0; options.logprobs > 0 && i < scores.size(); ++i)
    order.push_back({scores[i], static_cast<int32_t>(i)});
  const size_t wanted = std::min(order.size(), static_cast<size_t>(std::max(options.logprobs, 0)));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                    [](const Scored& a, const Scored& b) { return comes_after(b, a); });
  for (size_t i = 0; i < wanted; ++i) sampled.top.push_back({order[i].id, order[i].logit - log_total});
  return sampled;
}

}  // namespace longhand::sampling
