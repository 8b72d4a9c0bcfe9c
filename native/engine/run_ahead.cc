// Decoding on a device of its own: while step n runs, step n + 1 is encoded and fed the token the device chooses at the
// end of step n, so that the device never waits for the CPU. The CPU chooses too, from the same scores; where the two
// differ, and wherever generation ends, the step ahead is taken back: its states are in slots of their own, its keys
// and values beyond the length.
//
//   device   | step n | step n + 1 | step n + 2
//   CPU      encode n + 1 | choose n, encode n + 2 | choose n + 1, ...
#include <algorithm>
#include <utility>

#include "engine/session.h"
#include "formats/error.h"

namespace longhand {

bool Session::can_run_ahead() {
  if (!model_->backend().runs_ahead()) return false;
  try {
    memory_.open_slots();
  } catch (const OutOfMemory&) {
    return false;  // slower, but it goes on
  }
  guesses_ = wrong_guesses_ = 0;
  return slots_open_ = true;
}

// Encodes the step of the token at place held().
Session::Step Session::hand_over(int32_t token, bool after_guess, const Sampler& sampler, Path path) {
  Backend& backend = model_->backend();
  Step step{{}, memory_.slots()};
  try {
    memory_.reserve(held() + 1);
    backend.begin({.path = path, .ahead = true});
    step.logits = forward(*model_, memory_, held(), {&token, 1}, held() + 1, Scored::last);
    sampler.guess(backend, step.logits, after_guess);
    backend.hand_over();
  } catch (...) {
    backend.discard();
    memory_.back_to(step.before, held());
    throw;
  }
  return step;
}

void Session::take_back() {
  if (!ahead_) return;
  model_->backend().discard();
  memory_.back_to(ahead_->before, held());
  ahead_.reset();
}

Tensor Session::step_ahead(int32_t token, bool more, const Sampler& sampler, Path path) {
  const int64_t before = held();
  if (ahead_) {
    ++guesses_;
    if (guess_ != token) ++wrong_guesses_;
    if (guess_ != token) take_back();
  }
  // What the device cannot know (a grammar, a nearly flat choice) may make it guess wrong more often than it helps.
  constexpr int64_t enough = 16;
  more = more && (guesses_ < enough || 2 * wrong_guesses_ < guesses_);
  const Step step = ahead_ ? *std::exchange(ahead_, std::nullopt) : hand_over(token, false, sampler, path);
  passes_.push_back({before + 1, before + 1, path});
  {
    const std::lock_guard lock(published_);
    tokens_.push_back(token);
  }
  try {
    if (more) ahead_ = hand_over(guessed_token, true, sampler, path);
    guess_ = model_->backend().await_guess();
  } catch (...) {
    model_->backend().discard();
    ahead_.reset();
    recover(before);  // both slots may have been written
    cut_to(std::min(before, held()));
    throw;
  }
  return step.logits;
}

void Session::stop_running_ahead() {
  take_back();
  if (slots_open_) memory_.close_slots();
  slots_open_ = false;
}

}  // namespace longhand
