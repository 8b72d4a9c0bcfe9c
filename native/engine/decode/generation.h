// One answer, step by step: a chunk of the prompt is read, or a token is written. Whoever drives it decides what comes
// between two steps.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <variant>

#include "engine/decode/async_decode.h"
#include "engine/decode/guide.h"

namespace longhand {

struct TokenEvent {
  Sampled sampled;
  double at_ms = 0;
};

struct GenerateOptions {
  SamplingOptions sampling;
  int64_t max_tokens = 0;
  std::vector<int32_t> stop_tokens;
  Path path = Path::fast;
  const std::atomic<bool>* cancel = nullptr;
  // So many tokens at the end of the prompt are the answer so far: what the timeline holds of them goes on as it is.
  int64_t continues = 0;
  bool cache_prompt = true;            // what is read goes into the prompt cache
  std::string owner;                   // for whom also on disk; "": for nobody
  std::vector<PicturePtr> pictures{};  // in the order of their tokens in the prompt
  // Reads what every prompt that begins with this one has in common, and writes nothing. Stops between ops when it is
  // cancelled; what was read by then stays.
  bool read_only = false;
  GuideOptions guide{};
  std::function<void(int64_t done, int64_t total, int64_t cached)> on_prefill;
  std::function<void(const TokenEvent&)> on_token;
};

enum class Finish : uint8_t { stop, length, cancelled, context };

struct GenerateResult {
  std::vector<int32_t> tokens;
  Finish finish = Finish::length;
  int64_t prompt_tokens = 0, cached_tokens = 0;
  double prefill_ms = 0, decode_ms = 0, first_token_ms = 0;
  double device_ms = 0;  // time the GPU worked; 0 where the CPU computes
  Known known;           // tokens of the prompt that have been read before, whether they were still here or not
  Reread reread = Reread::cold;
};

class Generation {
 public:
  // Goes back to what of the prompt has been read. Throws std::invalid_argument, ContextError; then the timeline is as
  // it was.
  Generation(Timeline& timeline, std::span<const int32_t> prompt, GenerateOptions options);

  // Of the prompt it reads at most `most` tokens, a multiple of `pass_grain` (a few more where too few would be left
  // over). Returns false once the answer has ended, for whatever reason.
  bool step(int64_t most = std::numeric_limits<int64_t>::max());
  // A token for each, from one pass; all are writing one, with one model and on one path. What fails for one fails for
  // all.
  static void write_together(std::span<Generation* const> generations);
  // Whether its next step may be taken together with others.
  bool writes_alike(const Generation& other) const;
  bool reads() const { return std::holds_alternative<Reading>(state_); }
  // Tokens its timeline holds.
  int64_t length() const { return timeline_.length(); }
  bool ended() const { return std::holds_alternative<Ended>(state_); }
  const GenerateResult& result() const { return result_; }

 private:
  using Clock = std::chrono::steady_clock;

  //  reading ──last chunk──▶ writing ──stop, length, context──▶ ended
  //     └──────cancelled────────┴───────────cancelled───────────▲
  struct Reading {
    std::vector<int32_t> prompt;
    std::vector<Boundary> ends;  // where its passes end
    double seconds = 0;          // that the part of the pass which was read took
  };
  struct Writing {
    Sampler sampler;
    std::unique_ptr<AsyncDecode> async;
    double step_ms = 0;  // how long the last pass took
    int64_t unread = 0;  // tokens that are written and not read: one, and those that a grammar forced behind it
    Clock::time_point first_token{};
  };
  struct Ended {};

  void begin_guide(std::span<const int32_t> prompt);
  void read_chunk(Reading& reading, int64_t most);
  void remember(const Reading& reading, size_t boundary, double seconds);
  void write_token(Writing& writing);
  Tensor next_scores(Writing& writing, std::span<const int32_t> tokens);
  void written(Writing& writing, Tensor logits, double step_ms);
  void choose(Writing& writing, Tensor logits);
  Sampled pick(Writing& writing, Tensor logits);
  bool add(Writing& writing, const Sampled& sampled);
  void end(Finish finish);
  double elapsed_ms() const;

  Timeline& timeline_;
  GenerateOptions options_;
  Clock::time_point start_ = Clock::now();
  double device_seconds_before_;
  std::unique_ptr<Guide> guide_;  // null: nothing binds the answer
  GenerateResult result_;
  std::variant<Reading, Writing, Ended> state_;
};

}  // namespace longhand
