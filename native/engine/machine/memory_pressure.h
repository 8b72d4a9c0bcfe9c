// Frees memory of a model and its timelines when the system runs short: only what can be computed again. The signal may
// come from any thread; the worker responds, during a turn before the next pass.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

namespace longhand {

class Lifecycle;
class PromptCache;
class Timeline;
class Vision;

class MemoryPressure {
 public:
  // `vision`: null if the model has no vision tower.
  MemoryPressure(Lifecycle& backend, std::shared_ptr<PromptCache> cache, Vision* vision)
      : backend_(&backend), cache_(std::move(cache)), vision_(vision) {}

  // Any thread.
  void signal(bool critical);

  void add(Timeline* timeline);
  void remove(Timeline* timeline);
  void end();  // call before the back end is destroyed
  // Call on the worker when the results of the last pass are no longer needed.
  void respond();

 private:
  enum Wanted : int { nothing, some, most };

  std::atomic<int> wanted_{nothing};
  std::mutex lock_;  // guards the members below
  Lifecycle* backend_;
  std::shared_ptr<PromptCache> cache_;
  Vision* vision_;
  std::set<Timeline*> timelines_;
};

}  // namespace longhand
