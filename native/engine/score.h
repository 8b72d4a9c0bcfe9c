// Scores a given text: the log-probability of each token, without storing the logits of all positions.
#pragma once

#include <vector>

#include "engine/timeline/timeline.h"

namespace longhand {

struct ScoreOptions {
  // The first token that is scored; earlier ones are only read. At least 1, because the first token has no context.
  int64_t from = 1;
  // How many of the likeliest tokens to return per position.
  int64_t top = 0;
  // Additional tokens whose log-probabilities are returned: the same number for each scored position.
  std::vector<int32_t> at;
  Path path = Path::exact;
  const std::atomic<bool>* cancel = nullptr;
};

struct Scores {
  std::vector<float> logprobs;      // [positions]: ln p(token | those before it)
  std::vector<int32_t> top;         // [positions, top], likeliest first; ties in order of ids
  std::vector<float> top_logprobs;  // [positions, top]
  std::vector<float> at_logprobs;   // as `at`
};

// Starts from an empty timeline and leaves it holding `tokens` but the last. Throws std::invalid_argument.
Scores score(Timeline& timeline, std::span<const int32_t> tokens, const ScoreOptions& options);

}  // namespace longhand
