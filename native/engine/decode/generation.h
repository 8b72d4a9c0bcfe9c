// One answer, step by step: each step reads a chunk of the prompt or writes a token. The caller may run other work
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
  // Number of tokens at the end of the prompt that are the beginning of the answer; the timeline continues with those
  // it holds.
  int64_t continues = 0;
  bool cache_prompt = true;            // add the prompt to the prompt cache
  std::string owner;                   // whose disk cache also gets it; "": nobody's
  std::vector<PicturePtr> pictures{};  // in the order of their tokens in the prompt
  // Reads the part that every prompt beginning with this one shares, and writes nothing. Cancelling stops it between
  // two ops; what has been read stays.
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
  double device_ms = 0;  // time the GPU was busy; 0 on the CPU
  Known known;           // tokens of the prompt that had been read before, whether or not they were still in memory
  Reread reread = Reread::cold;
};

class Generation {
 public:
  // Returns the timeline to the longest prefix of the prompt that it or the cache holds. Throws std::invalid_argument,
  // ContextError, leaving the timeline unchanged.
  Generation(Timeline& timeline, std::span<const int32_t> prompt, GenerateOptions options);

  // Reads at most `most` tokens of the prompt, a multiple of Passes::grain() (a few more if too few would be left), or
  // writes one token. Returns false once the answer has ended, for whatever reason.
  bool step(int64_t most = std::numeric_limits<int64_t>::max());
  // Writes one token of each answer in one pass. All must be writing, with the same model and path. An error ends all
  // of them.
  static void write_together(std::span<Generation* const> generations);
  // Call before anything else computes with the model: takes back a step that was sent ahead.
  void pause();
  // Whether the next step may be taken together with other answers.
  bool writes_alike(const Generation& other) const;
  bool reads() const { return std::holds_alternative<Reading>(state_); }
  // Number of tokens in its timeline.
  int64_t length() const { return timeline_.length(); }
  int64_t grain() const { return timeline_.model().backend().grain(); }
  bool ended() const { return std::holds_alternative<Ended>(state_); }
  const GenerateResult& result() const { return result_; }

 private:
  using Clock = std::chrono::steady_clock;

  //  reading ──last chunk──▶ writing ──stop, length, context──▶ ended
  //     └──────cancelled────────┴───────────cancelled───────────▲
  struct Reading {
    std::vector<int32_t> prompt;
    std::vector<Boundary> ends;  // where the passes over the prompt end
    double seconds = 0;          // time spent on the current pass so far
  };
  struct Writing {
    Sampler sampler;
    std::unique_ptr<AsyncDecode> async;
    double step_ms = 0;  // duration of the last pass
    int64_t unread = 0;  // written tokens not yet read: the last one and those that a grammar forced after it
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
  std::unique_ptr<Guide> guide_;  // null: no grammar
  GenerateResult result_;
  std::variant<Reading, Writing, Ended> state_;
};

}  // namespace longhand
