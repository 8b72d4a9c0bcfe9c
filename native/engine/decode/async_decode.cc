#include "engine/decode/async_decode.h"

#include <utility>

#include "formats/error.h"

namespace longhand {

std::unique_ptr<AsyncDecode> AsyncDecode::create(Timeline& timeline) {
  if (!timeline.model().backend().decodes_async()) return nullptr;
  try {
    timeline.memory().open_slots();
  } catch (const OutOfMemory&) {
    return nullptr;  // slower, but it goes on
  }
  return std::unique_ptr<AsyncDecode>(new AsyncDecode(timeline));
}

AsyncDecode::~AsyncDecode() {
  take_back();
  timeline_.memory().close_slots();
}

// Encodes the step of the token that follows the history. There is room for it.
AsyncDecode::Submitted AsyncDecode::submit(int32_t token, bool after_guess, const Sampler& sampler, Path path) {
  const int64_t length = timeline_.length();
  Submitted step{{}, timeline_.memory().slots()};
  try {
    backend_.begin({.path = path, .async = true});
    step.logits = forward(timeline_.model(), timeline_.memory(), timeline_.pictures(), length, {&token, 1}, length + 1,
                          Scored::last);
    sampler.guess(backend_, step.logits, after_guess);
    backend_.submit();
  } catch (...) {
    backend_.discard();
    timeline_.memory().back_to(step.before, length);
    throw;
  }
  return step;
}

void AsyncDecode::take_back() {
  if (!in_flight_) return;
  backend_.discard();
  timeline_.memory().back_to(in_flight_->step.before, timeline_.length());
  in_flight_.reset();
}

// The step of `token`: the one in flight where the device guessed right.
AsyncDecode::Submitted AsyncDecode::take_or_submit(int32_t token, const Sampler& sampler, Path path) {
  if (in_flight_) {
    ++guesses_;
    if (in_flight_->token != token) ++wrong_guesses_;
    if (in_flight_->token != token) take_back();
  }
  if (in_flight_) return std::exchange(in_flight_, std::nullopt)->step;
  // With nothing in flight a cache that grows is copied at once.
  timeline_.memory().reserve(timeline_.length() + 1);
  return submit(token, false, sampler, path);
}

// What the device cannot know (a grammar, a nearly flat choice) may make it guess wrong more often than it helps.
bool AsyncDecode::worth_guessing() const {
  constexpr int64_t enough = 16;
  return guesses_ < enough || 2 * wrong_guesses_ < guesses_;
}

Tensor AsyncDecode::step(int32_t token, bool more, const Sampler& sampler, Path path) {
  const int64_t before = timeline_.length();
  const Submitted step = take_or_submit(token, sampler, path);
  timeline_.append({&token, 1}, before + 1, path);
  // The copies of a cache that grows would be lost with a step that is taken back: such a step is not sent ahead.
  const bool room = timeline_.memory().capacity() > timeline_.length();
  try {
    std::optional<Submitted> next;
    if (more && room && worth_guessing()) next = submit(guessed_token, true, sampler, path);
    const int32_t guess = backend_.await_guess();
    if (next) in_flight_ = InFlight{std::move(*next), guess};
  } catch (...) {
    backend_.discard();
    timeline_.restore(before);  // both slots may have been written
    throw;
  }
  return step.logits;
}

}  // namespace longhand
