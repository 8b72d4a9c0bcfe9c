// Keeps the state that the back end's sampling op needs: penalty counts, DRY, biases, exemplars, forbidden tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/decode/exemplars.h"
#include "ops/backend.h"

namespace longhand {

// "Don't repeat yourself": a token that would continue an earlier repetition of length n >= allowed_length loses
// multiplier * base^(n - allowed_length). Repetitions do not extend across breaker tokens.
struct Dry {
  float multiplier = 0;
  float base = 1.75f;
  int64_t allowed_length = 2;
  int64_t window = -1;  // how many tokens to look back; -1: all
  std::vector<int32_t> breakers;
};

struct SamplingOptions {
  Sampling sampling;  // seed and filters; the position is set for every token
  int64_t penalty_window = -1;
  std::optional<Dry> dry;
  std::vector<TokenBias> bias;
  std::vector<Exemplar> exemplars;
  std::vector<int32_t> forbidden;
};

class Sampler {
 public:
  // `history`: all tokens before the first one that is sampled; the last `written` of them are the answer's.
  Sampler(SamplingOptions options, std::span<const int32_t> history, size_t written = 0);

  // `allowed`: one bit per token; empty: all tokens.
  Sampled pick(Ops& ops, Tensor logits_row, std::span<const uint32_t> allowed = {});
  // The parameters of the device's own choice (Backend::guess). `after_guess`: it comes one token after the last
  // accepted one.
  void guess(Passes& passes, Tensor logits_row, bool after_guess) const;
  void accept(int32_t token);

 private:
  void count(int32_t token, int32_t step);
  std::vector<TokenCount> counts() const;
  // `ahead`: for the token after the next one, which is not known yet.
  std::vector<TokenBias> biases(bool ahead = false) const;

  SamplingOptions options_;
  std::vector<int32_t> history_;
  size_t answer_;  // where it begins
  std::unordered_map<int32_t, int32_t> counts_;
  bool penalties_;
};

// DRY penalties, as negative biases, for every token that would continue a repetition.
std::vector<TokenBias> dry_biases(const Dry& dry, std::span<const int32_t> history);

}  // namespace longhand
