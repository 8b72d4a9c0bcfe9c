#include "engine/decode/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace longhand {

namespace {

bool has_penalties(const Sampling& s) {
  return s.repetition_penalty != 1.0f || s.presence_penalty != 0.0f || s.frequency_penalty != 0.0f;
}

// Z array: z[i] is the length of the common prefix of `text` and text[i..].
std::vector<int64_t> z_function(std::span<const int32_t> text) {
  const int64_t n = static_cast<int64_t>(text.size());
  std::vector<int64_t> z(text.size(), 0);
  for (int64_t i = 1, left = 0, right = 0; i < n; ++i) {
    if (i < right) z[static_cast<size_t>(i)] = std::min(right - i, z[static_cast<size_t>(i - left)]);
    int64_t& length = z[static_cast<size_t>(i)];
    while (i + length < n && text[static_cast<size_t>(length)] == text[static_cast<size_t>(i + length)]) ++length;
    if (i + length > right) {
      left = i;
      right = i + length;
    }
  }
  return z;
}

// One for each token, in their order.
std::vector<TokenBias> summed(std::vector<TokenBias> biases) {
  std::ranges::stable_sort(biases, {}, &TokenBias::id);
  std::vector<TokenBias> out;
  for (const TokenBias& each : biases) {
    if (out.empty() || out.back().id != each.id) out.push_back(each);
    else out.back().bias += each.bias;
  }
  return out;
}

}  // namespace

std::vector<TokenBias> dry_biases(const Dry& dry, std::span<const int32_t> history) {
  if (dry.multiplier <= 0 || history.size() < 2) return {};
  if (dry.window >= 0) history = history.last(std::min(history.size(), static_cast<size_t>(dry.window)));
  // On the reversed text its end is a prefix, so one Z array finds every earlier copy of the end.
  const std::vector<int32_t> reversed(history.rbegin(), history.rend());
  const auto breaker = [&](int32_t token) { return std::ranges::find(dry.breakers, token) != dry.breakers.end(); };
  const int64_t reach = std::ranges::find_if(reversed, breaker) - reversed.begin();
  const std::vector<int64_t> z = z_function(reversed);
  std::unordered_map<int32_t, int64_t> longest;
  for (size_t i = 1; i < reversed.size(); ++i) {
    const int64_t length = std::min(z[i], reach);
    const int32_t next = reversed[i - 1];
    if (length < std::max<int64_t>(dry.allowed_length, 1) || breaker(next)) continue;
    int64_t& best = longest[next];
    best = std::max(best, length);
  }
  std::vector<TokenBias> out;
  for (const auto& [token, length] : longest) {
    // Capped far above any useful penalty to keep the power finite.
    const double exponent = static_cast<double>(std::min<int64_t>(length - dry.allowed_length, 256));
    const double penalty =
        std::min(static_cast<double>(dry.multiplier) * std::pow(static_cast<double>(dry.base), exponent), 1e30);
    out.push_back({token, -static_cast<float>(penalty)});
  }
  std::ranges::sort(out, {}, &TokenBias::id);
  return out;
}

Sampler::Sampler(SamplingOptions options, std::span<const int32_t> history, size_t written)
    : options_(std::move(options)),
      history_(history.begin(), history.end()),
      answer_(history.size() - std::min(written, history.size())),
      penalties_(has_penalties(options_.sampling)) {
  if (!penalties_ || options_.penalty_window == 0) return;
  const size_t window = options_.penalty_window < 0 ? history_.size() : static_cast<size_t>(options_.penalty_window);
  for (const int32_t token : history.last(std::min(window, history.size()))) count(token, 1);
}

void Sampler::count(int32_t token, int32_t step) {
  int32_t& seen = counts_[token];
  seen += step;
  if (seen <= 0) counts_.erase(token);
}

void Sampler::accept(int32_t token) {
  history_.push_back(token);
  if (!penalties_ || options_.penalty_window == 0) return;
  count(token, 1);
  const auto window = static_cast<size_t>(options_.penalty_window);
  if (options_.penalty_window > 0 && history_.size() > window) count(history_[history_.size() - window - 1], -1);
}

std::vector<TokenCount> Sampler::counts() const {
  std::vector<TokenCount> counts;
  counts.reserve(counts_.size());
  for (const auto& [token, seen] : counts_) counts.push_back({token, seen});
  std::ranges::sort(counts, {}, &TokenCount::id);
  return counts;
}

std::vector<TokenBias> Sampler::biases(bool ahead) const {
  std::vector<TokenBias> biases;
  if (options_.dry) biases = dry_biases(*options_.dry, history_);
  biases.insert(biases.end(), options_.bias.begin(), options_.bias.end());
  if (!ahead) {
    const auto follow = exemplar_biases(options_.exemplars, std::span(history_).subspan(answer_));
    biases.insert(biases.end(), follow.begin(), follow.end());
  }
  for (const int32_t token : options_.forbidden) biases.push_back({token, -std::numeric_limits<float>::infinity()});
  return summed(std::move(biases));
}

Sampled Sampler::pick(Ops& ops, Tensor logits_row, std::span<const uint32_t> allowed) {
  Sampling sampling = options_.sampling;
  sampling.allowed = allowed;
  sampling.position = history_.size();
  return ops.sample(logits_row, sampling, counts(), biases());
}

// An approximation that is nearly always right: it ignores what DRY and exemplars add for the token not yet known, and
// which token leaves the penalty window; `pick` considers all of them.
void Sampler::guess(Passes& passes, Tensor logits_row, bool after_guess) const {
  Sampling sampling = options_.sampling;
  sampling.position = history_.size() + (after_guess ? 1 : 0);
  passes.guess(logits_row, sampling, counts(), biases(after_guess),
               after_guess && penalties_ && options_.penalty_window != 0);
}

}  // namespace longhand
