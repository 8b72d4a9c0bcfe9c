// Decoding on a device of its own: while step n runs, step n + 1 is encoded and fed the token the device chooses at the
// end of step n, so that the device never waits for the CPU. The CPU chooses too, from the same scores; where the two
// differ, and wherever generation ends, the step in flight is taken back: its states are in slots of their own, its
// keys and values beyond the length. The same when another answer or job is to use the device: see Generation::pause.
//
//   device   | step n | step n + 1 | step n + 2
//   CPU      encode n + 1 | choose n, encode n + 2 | choose n + 1, ...
#pragma once

#include <memory>
#include <optional>

#include "engine/decode/sampler.h"
#include "engine/timeline/timeline.h"

namespace longhand {

class AsyncDecode {
 public:
  // Null if the device decodes step by step, or has no memory for second slots.
  static std::unique_ptr<AsyncDecode> create(Timeline& timeline);
  ~AsyncDecode();  // discards the step in flight
  AsyncDecode(const AsyncDecode&) = delete;
  AsyncDecode& operator=(const AsyncDecode&) = delete;

  // Logits after `token`, which follows the timeline's history. With `more`, the following step has already been
  // started when this returns.
  Tensor step(int32_t token, bool more, const Sampler& sampler, Path path);
  // Discards the step in flight. Call before any other pass and before the timeline is used.
  void take_back();

 private:
  struct Submitted {
    Tensor logits;
    TimelineMemory::Slots before;
  };
  struct InFlight {
    Submitted step;
    int32_t token;  // the token the device fed it
  };

  explicit AsyncDecode(Timeline& timeline) : timeline_(timeline), backend_(timeline.model().backend()) {}
  Submitted submit(int32_t token, bool after_guess, const Sampler& sampler, Path path);
  Submitted take_or_submit(int32_t token, const Sampler& sampler, Path path);
  bool worth_guessing() const;

  Timeline& timeline_;
  Backend& backend_;
  std::optional<InFlight> in_flight_;
  int64_t guesses_ = 0, wrong_guesses_ = 0;
};

}  // namespace longhand
