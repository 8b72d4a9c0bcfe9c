// Asynchronous decode (native/ops/passes.h): passes are submitted, then waited for one by one.
#include "metal/backend.h"

namespace longhand::metal {

void MetalBackend::submit() {
  assert(pass_.async);
  in_flight_.push_back({commands_.submit(), turn_});
  save_pipelines();
}

int32_t MetalBackend::await_guess() {
  assert(!in_flight_.empty());
  const auto [ticket, turn] = in_flight_.front();
  in_flight_.pop_front();
  commands_.await(ticket);
  activity_.set(!in_flight_.empty());
  return *reinterpret_cast<const int32_t*>(guesses_->host() + guess_of(turn).offset * sizeof(float));
}

void MetalBackend::discard() {
  commands_.abandon();
  in_flight_.clear();
  activity_.set(false);
}

}  // namespace longhand::metal
