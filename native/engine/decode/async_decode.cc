#include "engine/decode/async_decode.h"

#include <utility>

#include "formats/error.h"

namespace longhand {

std::unique_ptr<AsyncDecode> AsyncDecode::create(Timeline& timeline) {
  if (!timeline.model().backend().decodes_async()) return nullptr;
  try {
    timeline.memory().open_slots();
  } catch (const OutOfMemory&) {
    return nullptr;  // without second slots it decodes more slowly
  }
  return std::unique_ptr<AsyncDecode>(new AsyncDecode(timeline));
}

AsyncDecode::~AsyncDecode() {
  take_back();
  timeline_.memory().close_slots();
}

// Encodes the step that reads the token after the history. The caller has made room for it.
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

// Returns the step that reads `token`: the one in flight if the device guessed right.
AsyncDecode::Submitted AsyncDecode::take_or_submit(int32_t token, const Sampler& sampler, Path path) {
  if (in_flight_) {
    ++guesses_;
    if (in_flight_->token != token) ++wrong_guesses_;
    if (in_flight_->token != token) take_back();
  }
  if (in_flight_) return std::exchange(in_flight_, std::nullopt)->step;
  // Caches may only grow while no step is in flight.
  timeline_.memory().reserve(timeline_.length() + 1);
  return submit(token, false, sampler, path);
}

// The device guesses wrong when the choice depends on something it does not know (a grammar) or is close; if that
// happens often, running ahead costs more than it saves.
bool AsyncDecode::worth_guessing() const {
  constexpr int64_t enough = 16;
  return guesses_ < enough || 2 * wrong_guesses_ < guesses_;
}

Tensor AsyncDecode::step(int32_t token, bool more, const Sampler& sampler, Path path) {
  const int64_t before = timeline_.length();
  const Submitted step = take_or_submit(token, sampler, path);
  timeline_.append({&token, 1}, before + 1, path);
  // A step that makes a cache grow is not sent ahead: taking it back would lose the copied cache.
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
