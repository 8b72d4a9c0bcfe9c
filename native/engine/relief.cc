#include "engine/relief.h"

#include "engine/session.h"

namespace longhand {

void Relief::ask(bool critical) {
  if (critical) {
    wanted_ = most;
    return;
  }
  int calm = nothing;
  wanted_.compare_exchange_strong(calm, some);
}

void Relief::add(Session* session) {
  const std::lock_guard lock(lock_);
  sessions_.insert(session);
}
void Relief::remove(Session* session) {
  const std::lock_guard lock(lock_);
  sessions_.erase(session);
}
void Relief::end() {
  const std::lock_guard lock(lock_);
  backend_ = nullptr;
}

void Relief::follow() {
  if (wanted_.load(std::memory_order_relaxed) == nothing) return;
  const std::lock_guard lock(lock_);
  if (!backend_) return;
  const bool critical = wanted_.exchange(nothing) == most;
  for (Session* session : sessions_) session->relieve(critical);
  backend_->relieve();
}

}  // namespace longhand
