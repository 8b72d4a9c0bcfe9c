#include "engine/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "engine/matrix.h"

namespace longhand {
namespace {

// The most logits copied from the device at a time.
constexpr int64_t most_logit_bytes = int64_t{64} << 20;

double log_of_sum(std::span<const float> row) {
  const float most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float x : row) sum += std::exp(static_cast<double>(x - most));
  return static_cast<double>(most) + std::log(sum);
}

class Scorer {
 public:
  Scorer(std::span<const int32_t> tokens, const ScoreOptions& options, int64_t vocabulary)
      : tokens_(tokens), options_(options), ids_(static_cast<size_t>(vocabulary)) {
    const int64_t positions = static_cast<int64_t>(tokens.size()) - options.from;
    if (options.from < 1 || positions < 1)
      throw std::invalid_argument("[score] from " + std::to_string(options.from) + " leaves nothing to score of " +
                                  std::to_string(tokens.size()) + " tokens");
    if (options.top < 0 || options.top > vocabulary)
      throw std::invalid_argument("[score] top " + std::to_string(options.top) + ", expected 0 to " +
                                  std::to_string(vocabulary));
    const int64_t asked = static_cast<int64_t>(options.at.size());
    if (asked % positions != 0)
      throw std::invalid_argument("[score] at has " + std::to_string(asked) + " tokens, expected a multiple of " +
                                  std::to_string(positions));
    for (const int32_t id : options.at) {
      if (id < 0 || id >= vocabulary)
        throw std::invalid_argument("[score] at has token " + std::to_string(id) + ", the vocabulary has " +
                                    std::to_string(vocabulary));
    }
    each_ = asked / positions;
  }

  // `row`: the logits after tokens[position].
  void add(int64_t position, std::span<const float> row) {
    const double total = log_of_sum(row);
    const auto logprob = [&](int32_t id) {
      return static_cast<float>(static_cast<double>(row[static_cast<size_t>(id)]) - total);
    };
    const int64_t scored = position + 1 - options_.from;
    out_.logprobs.push_back(logprob(tokens_[static_cast<size_t>(position + 1)]));
    for (int64_t i = 0; i < each_; ++i)
      out_.at_logprobs.push_back(logprob(options_.at[static_cast<size_t>(scored * each_ + i)]));
    if (options_.top == 0) return;
    std::iota(ids_.begin(), ids_.end(), 0);
    const auto last = ids_.begin() + options_.top;
    std::partial_sort(ids_.begin(), last, ids_.end(), [&](int32_t a, int32_t b) {
      const float x = row[static_cast<size_t>(a)], y = row[static_cast<size_t>(b)];
      return x > y || (x == y && a < b);
    });
    for (auto id = ids_.begin(); id != last; ++id) {
      out_.top.push_back(*id);
      out_.top_logprobs.push_back(logprob(*id));
    }
  }

  Scores take() { return std::move(out_); }

 private:
  std::span<const int32_t> tokens_;
  const ScoreOptions& options_;
  std::vector<int32_t> ids_;
  int64_t each_ = 0;
  Scores out_;
};

}  // namespace

Scores score(Timeline& timeline, std::span<const int32_t> tokens, const ScoreOptions& options) {
  timeline.check_prompt(tokens);
  Model& model = timeline.model();
  const int64_t vocabulary = model.facts().vocabulary;
  Scorer scorer(tokens, options, vocabulary);
  timeline.clear();
  const int64_t rows_at_once = std::max<int64_t>(1, most_logit_bytes / (vocabulary * int64_t{sizeof(float)}));
  const int64_t end = static_cast<int64_t>(tokens.size()) - 1;
  const int64_t first_scored = options.from - 1;
  while (timeline.length() < end) {
    const int64_t first = timeline.length();
    const bool scored = first >= first_scored;
    const int64_t count =
        scored ? std::min({rows_at_once, prefill_chunk, end - first}) : std::min(prefill_chunk, first_scored - first);
    const auto part = tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    const Tensor logits =
        timeline.read(part, end + 1, scored ? Scored::all : Scored::none, {options.path, options.cancel});
    if (!scored) continue;
    const Matrix values = read_back(model.backend(), logits);
    const std::span<const float> data(values.data);
    for (int64_t row = 0; row < values.rows; ++row)
      scorer.add(first + row, data.subspan(static_cast<size_t>(row * vocabulary), static_cast<size_t>(vocabulary)));
  }
  return scorer.take();
}

}  // namespace longhand
