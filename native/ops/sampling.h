// Choosing a token from a row of logits in host memory, the same for every back end. Every filter keeps a prefix of the
// vocabulary ranked by (logit descending, id ascending). Nothing is sorted: a filter finds the last token that it keeps
// and strikes out what ranks after it, so that tokens stay in the order of their ids, in which the pick walks them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "ops/backend.h"
#include "ops/error.h"

namespace longhand::sampling {

inline constexpr float forbidden = -std::numeric_limits<float>::infinity();

struct Scored {
  float logit;
  int32_t id;
};
inline bool comes_after(const Scored& a, const Scored& b) {
  return a.logit != b.logit ? a.logit < b.logit : a.id > b.id;
}

inline void forbid_others(std::vector<float>& scores, std::span<const uint32_t> allowed) {
  for (size_t word = 0; word < allowed.size(); ++word) {
    if (allowed[word] == ~0u) continue;
    const size_t first = 32 * word, end = std::min(first + 32, scores.size());
    for (size_t i = first; i < end; ++i) scores[i] = (allowed[word] >> (i - first)) & 1u ? scores[i] : forbidden;
  }
}

// Whether anything but the model has a say in the scores.
inline bool changes_scores(const Sampling& options, std::span<const TokenCount> counts,
                           std::span<const TokenBias> biases) {
  return !counts.empty() || !biases.empty() || !options.allowed.empty();
}

// Repetition -> frequency and presence -> bias -> grammar. NaN counts as forbidden.
inline std::vector<float> penalised(const float* logits, int64_t vocabulary, const Sampling& options,
                                    std::span<const TokenCount> counts, std::span<const TokenBias> biases) {
  std::vector<float> scores(logits, logits + vocabulary);
  for (float& score : scores)
    if (std::isnan(score)) score = forbidden;
  for (const auto& [id, count] : counts) {
    if (id < 0 || id >= vocabulary) continue;
    float& score = scores[static_cast<size_t>(id)];
    score = score > 0 ? score / options.repetition_penalty : score * options.repetition_penalty;
    score -= options.presence_penalty + static_cast<float>(count) * options.frequency_penalty;
  }
  for (const auto& [id, bias] : biases)
    if (id >= 0 && id < vocabulary) scores[static_cast<size_t>(id)] += bias;
  forbid_others(scores, options.allowed);
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

// A bound that at least `count` of the scores reach, and few more: the count-th largest of the maxima of blocks.
inline float reached_by(std::span<const float> scores, size_t count) {
  constexpr size_t block = 64;
  std::vector<float> maxima;
  for (size_t first = 0; first < scores.size(); first += block) {
    const size_t end = std::min(first + block, scores.size());
    float most = scores[first];
    for (size_t i = first + 1; i < end; ++i) most = scores[i] > most ? scores[i] : most;
    maxima.push_back(most);
  }
  if (count == 0 || count > maxima.size()) return forbidden;
  const auto last = maxima.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(maxima.begin(), last, maxima.end(), std::greater<>());
  return *last;
}

inline void strike_out_after(std::vector<Scored>& tokens, const Scored& last) {
  std::erase_if(tokens, [&](const Scored& token) { return comes_after(token, last); });
}

inline Scored ranked(std::vector<Scored> tokens, size_t rank) {
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(tokens.begin(), at, tokens.end(),
                   [](const Scored& a, const Scored& b) { return comes_after(b, a); });
  return *at;
}

// The last token of the shortest prefix of the ranking whose weights, exp(logit - peak), reach `enough`. Goes down the
// ranking in bands: most of the vocabulary lies far below what is kept and is never ranked.
inline Scored last_of_share(const std::vector<Scored>& tokens, double enough, float peak) {
  Scored last{};
  double sum = 0;
  float above = std::numeric_limits<float>::infinity();
  for (const float depth : {6.0f, 12.0f, 24.0f, std::numeric_limits<float>::infinity()}) {
    std::vector<Scored> band;
    for (const Scored& token : tokens)
      if (token.logit >= peak - depth && (token.logit < above || depth == 6.0f)) band.push_back(token);
    std::make_heap(band.begin(), band.end(), comes_after);
    while (!band.empty()) {
      std::pop_heap(band.begin(), band.end(), comes_after);
      last = band.back();
      band.pop_back();
      sum += std::exp(static_cast<double>(last.logit - peak));
      if (!(sum < enough)) return last;
    }
    above = peak - depth;
  }
  return last;
}

// top-k -> top-p (of the distribution renormalised over the top k) -> min-p. Logits are divided by the temperature
// already; tokens stand in the order of their ids.
inline std::vector<Scored> filtered_tokens(std::vector<Scored> tokens, const Sampling& options, float peak) {
  if (options.top_k > 0 && static_cast<size_t>(options.top_k) < tokens.size())
    strike_out_after(tokens, ranked(tokens, static_cast<size_t>(options.top_k) - 1));
  if (options.top_p < 1.0f) {
    double total = 0;
    for (const Scored& token : tokens) total += std::exp(static_cast<double>(token.logit - peak));
    strike_out_after(tokens, last_of_share(tokens, static_cast<double>(options.top_p) * total, peak));
  }
  if (options.min_p > 0.0f)
    std::erase_if(tokens, [&](const Scored& token) { return std::exp(token.logit - peak) < options.min_p; });
  return tokens;
}

inline int32_t pick(const std::vector<Scored>& tokens, float peak, double random) {
  std::vector<double> weights;
  weights.reserve(tokens.size());
  double total = 0;
  for (const Scored& token : tokens) {
    weights.push_back(std::exp(static_cast<double>(token.logit - peak)));
    total += weights.back();
  }
  double left = random * total;
  for (size_t i = 0; i < tokens.size(); ++i) {
    left -= weights[i];
    if (left < 0) return tokens[i].id;
  }
  return tokens.back().id;
}

// What a device has found of a stretch of a row: its peak, and the sum of exp(score - peak), 0 if all are NaN, which
// count as nothing.
struct Tile {
  float peak, sum;
};
// A row of scores that no penalty, bias or grammar changes; tile i is of the scores from i * `width` on.
struct TiledRow {
  std::span<const float> scores;
  std::span<const Tile> tiles;
  size_t width;
};

// The tokens whose score, divided by `divisor`, may be among the `count` highest; 0: all of them. Stretches that cannot
// hold one are not read.
inline std::vector<Scored> highest(const TiledRow& row, size_t count, float divisor) {
  std::vector<float> peaks;
  for (const Tile& tile : row.tiles) peaks.push_back(tile.peak / divisor);
  float bound = forbidden;
  if (count > 0 && count <= peaks.size()) {
    const auto last = peaks.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(peaks.begin(), last, peaks.end(), std::greater<>());
    bound = *last;
  }
  std::vector<Scored> tokens;
  for (size_t tile = 0; tile < row.tiles.size(); ++tile) {
    if (!(row.tiles[tile].peak / divisor >= bound)) continue;
    const size_t first = tile * row.width, end = std::min(first + row.width, row.scores.size());
    for (size_t i = first; i < end; ++i) {
      const float score = row.scores[i] / divisor;
      if (score > forbidden && score >= bound) tokens.push_back({score, static_cast<int32_t>(i)});
    }
  }
  return tokens;
}

inline int32_t draw(std::span<const float> given, const Sampling& options, float peak) {
  std::vector<float> scores(given.begin(), given.end());
  for (float& score : scores) score /= options.temperature;
  peak /= options.temperature;
  const float bound = options.top_k > 0 ? reached_by(scores, static_cast<size_t>(options.top_k)) : forbidden;
  std::vector<Scored> tokens;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > forbidden && scores[i] >= bound) tokens.push_back({scores[i], static_cast<int32_t>(i)});
  return pick(filtered_tokens(std::move(tokens), options, peak), peak, uniform(options.seed, options.position));
}

// The first of the highest scores; NaN is no score. Eight rows of maxima a block, so that compilers make vectors of
// them.
inline Scored best_of(std::span<const float> scores) {
  constexpr size_t lanes = 8, block = 2048;
  Scored best{forbidden, 0};
  size_t from = 0;  // the block of the best
  for (size_t first = 0; first < scores.size(); first += block) {
    float most[lanes];
    std::fill_n(most, lanes, forbidden);
    const size_t end = std::min(first + block, scores.size());
    size_t i = first;
    for (; i + lanes <= end; i += lanes)
      for (size_t lane = 0; lane < lanes; ++lane)
        most[lane] = scores[i + lane] > most[lane] ? scores[i + lane] : most[lane];
    for (; i < end; ++i) most[0] = scores[i] > most[0] ? scores[i] : most[0];
    const float highest = *std::max_element(most, most + lanes);
    if (!(highest > best.logit)) continue;
    best.logit = highest;
    from = first;
  }
  const auto at = std::find(scores.begin() + static_cast<std::ptrdiff_t>(from), scores.end(), best.logit);
  return {best.logit, at == scores.end() ? 0 : static_cast<int32_t>(at - scores.begin())};
}

// The sum of exp(score - peak), of scores at most `peak`, for back ends without kernels for the CPU: eight rows of sums
// and no call, so that compilers make vectors of it. Relative error about 1e-7 (Cephes' polynomial).
inline double sum_exp(const float* scores, float peak, int64_t count) {
  constexpr int64_t lanes = 8, block = 4096;
  constexpr float least = -87.0f;  // below this, exp is lost in a sum of at least 1
  const auto exp = [&](float score) {
    const float x = score - peak > least ? score - peak : least;
    const auto power =
        static_cast<int32_t>(x * 1.44269504f - 0.5f);  // truncation of a negative number rounds to nearest here
    const float r = x - static_cast<float>(power) * 0.693359375f - static_cast<float>(power) * -2.12194440e-4f;
    const float poly =
        ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r +
         1.6666665459e-1f) *
            r +
        5.0000001201e-1f;
    return (poly * r * r + r + 1.0f) * std::bit_cast<float>((power + 127) << 23);
  };
  double total = 0;
  for (int64_t first = 0; first < count; first += block) {
    float sums[lanes] = {};
    const int64_t end = std::min(first + block, count);
    int64_t i = first;
    for (; i + lanes <= end; i += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += exp(scores[i + lane]);
    for (; i < end; ++i) sums[0] += exp(scores[i]);
    for (const float sum : sums) total += static_cast<double>(sum);
  }
  return total;
}

// Throws the reason why no token can be chosen.
[[noreturn]] inline void refuse(std::span<const float> logits) {
  if (!std::ranges::all_of(logits, [](float score) { return std::isfinite(score); }))
    throw NotFinite("[sample] the scores of the next token are not finite: the weights of this model are damaged");
  throw std::invalid_argument("[sample] no token can be chosen: all are forbidden, at least one must be left");
}

inline void add_top(Sampled& sampled, std::vector<Scored> order, size_t wanted, float log_total) {
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                    [](const Scored& a, const Scored& b) { return comes_after(b, a); });
  for (size_t i = 0; i < wanted; ++i) sampled.top.push_back({order[i].id, order[i].logit - log_total});
}

// A temperature so close to zero that the scores would overflow: only the best token has a chance.
inline bool is_greedy(const Sampling& options, float peak) {
  return options.temperature <= 0.0f || !std::isfinite(peak / options.temperature);
}

// As below, from what the device knows of the row: of a large vocabulary little is read.
inline Sampled choose(const TiledRow& row, const Sampling& options) {
  const auto best = std::ranges::max_element(row.tiles, {}, &Tile::peak);  // the first of equals
  const float peak = best->peak;
  if (!std::isfinite(peak) || best->sum <= 0) refuse(row.scores);
  double sum = 0;
  for (const Tile& tile : row.tiles)
    sum += static_cast<double>(tile.sum) * std::exp(static_cast<double>(tile.peak) - static_cast<double>(peak));
  const float log_total = peak + static_cast<float>(std::log(sum));
  const auto from = row.scores.begin() + (best - row.tiles.begin()) * static_cast<std::ptrdiff_t>(row.width);
  auto id = static_cast<int32_t>(std::find(from, row.scores.end(), peak) - row.scores.begin());
  if (!is_greedy(options, peak)) {
    const auto kept = static_cast<size_t>(std::max(options.top_k, 0));
    const float scaled = peak / options.temperature;
    id = pick(filtered_tokens(highest(row, kept, options.temperature), options, scaled), scaled,
              uniform(options.seed, options.position));
  }
  Sampled sampled{{id, row.scores[static_cast<size_t>(id)] - log_total}, {}};
  if (options.logprobs <= 0) return sampled;
  std::vector<Scored> order = highest(row, static_cast<size_t>(options.logprobs), 1.0f);
  const size_t wanted = std::min(order.size(), static_cast<size_t>(options.logprobs));
  add_top(sampled, std::move(order), wanted, log_total);
  return sampled;
}

// `sum_exp(scores, peak, count)` sums exp(score - peak) over a row.
template <class SumExp>
Sampled choose(const float* logits, int64_t vocabulary, const Sampling& options, std::span<const TokenCount> counts,
               std::span<const TokenBias> biases, const SumExp& sum_exp) {
  std::span<const float> scores(logits, static_cast<size_t>(vocabulary));
  std::vector<float> changed;
  const auto change = [&] {
    changed = penalised(logits, vocabulary, options, counts, biases);
    scores = changed;
  };
  if (changes_scores(options, counts, biases)) change();
  const Scored best = best_of(scores);
  if (!std::isfinite(best.logit)) refuse({logits, static_cast<size_t>(vocabulary)});
  double sum = sum_exp(scores.data(), best.logit, vocabulary);
  if (!std::isfinite(sum)) {  // one of the scores is not a number
    change();
    sum = sum_exp(scores.data(), best.logit, vocabulary);
  }
  const float log_total = best.logit + static_cast<float>(std::log(sum));
  const int32_t id = is_greedy(options, best.logit) ? best.id : draw(scores, options, best.logit);

  Sampled sampled{{id, scores[static_cast<size_t>(id)] - log_total}, {}};
  const size_t wanted = std::min(scores.size(), static_cast<size_t>(std::max(options.logprobs, 0)));
  std::vector<Scored> order;
  const float bound = wanted > 0 ? reached_by(scores, wanted) : forbidden;
  for (size_t i = 0; wanted > 0 && i < scores.size(); ++i)
    if (scores[i] >= bound) order.push_back({scores[i], static_cast<int32_t>(i)});
  if (wanted > 0) add_top(sampled, std::move(order), wanted, log_total);
  return sampled;
}

}  // namespace longhand::sampling
