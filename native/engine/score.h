// What a model makes of a text that it is given: the log-probability of every token, without holding a row of the
// vocabulary for each.
#pragma once

#include <vector>

#include "engine/timeline/timeline.h"

namespace longhand {

struct ScoreOptions {
  // The first token that is scored; the ones before it are only read. 1 at least: nothing comes before the first.
  int64_t from = 1;
  // So many of the likeliest tokens are told for every position.
  int64_t top = 0;
  // The log-probabilities of these tokens are told as well: the same number for every position that is scored.
  std::vector<int32_t> at;
  Path path = Path::exact;
  const std::atomic<bool>* cancel = nullptr;
};

struct Scores {
  std::vector<float> logprobs;      // [positions]: ln p(token | those before it)
  std::vector<int32_t> top;         // [positions, top], likeliest first; of equals the one with the lower id
  std::vector<float> top_logprobs;  // [positions, top]
  std::vector<float> at_logprobs;   // as `at`
};

// Starts from an empty timeline and leaves it holding `tokens` but the last. Throws std::invalid_argument.
Scores score(Timeline& timeline, std::span<const int32_t> tokens, const ScoreOptions& options);

}  // namespace longhand
