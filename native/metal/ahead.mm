// Running ahead (native/ops/backend.h): passes handed over and waited for one by one.
#include "metal/backend.h"

namespace longhand::metal {

void MetalBackend::hand_over() {
  assert(pass_.ahead);
  under_way_.push_back({commands_.hand_over(), turn_});
  keep_pipelines();
}

int32_t MetalBackend::await_guess() {
  assert(!under_way_.empty());
  const auto [ticket, turn] = under_way_.front();
  under_way_.pop_front();
  commands_.await(ticket);
  activity_.set(!under_way_.empty());
  return *reinterpret_cast<const int32_t*>(guesses_->host() + guess_of(turn).offset * sizeof(float));
}

void MetalBackend::discard() {
  commands_.abandon();
  under_way_.clear();
  activity_.set(false);
}

}  // namespace longhand::metal
