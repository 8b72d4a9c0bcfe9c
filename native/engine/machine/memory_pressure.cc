#include "engine/machine/memory_pressure.h"

#include "architectures/vision/vision.h"
#include "engine/machine/allocator.h"
#include "engine/timeline/timeline.h"

namespace longhand {

void MemoryPressure::signal(bool critical) {
  if (critical) {
    wanted_ = most;
    return;
  }
  int calm = nothing;
  wanted_.compare_exchange_strong(calm, some);
}

void MemoryPressure::add(Timeline* timeline) {
  const std::lock_guard lock(lock_);
  timelines_.insert(timeline);
}
void MemoryPressure::remove(Timeline* timeline) {
  const std::lock_guard lock(lock_);
  timelines_.erase(timeline);
}
void MemoryPressure::end() {
  const std::lock_guard lock(lock_);
  backend_ = nullptr;
}

void MemoryPressure::respond() {
  if (wanted_.load(std::memory_order_relaxed) == nothing) return;
  const std::lock_guard lock(lock_);
  if (!backend_) return;
  const bool critical = wanted_.exchange(nothing) == most;
  cache_->release_memory(critical);
  for (Timeline* timeline : timelines_) timeline->release_memory(critical);
  if (vision_) vision_->unload();
  backend_->release_caches();
  return_freed_memory();
}

}  // namespace longhand
