// What a model and its timelines give back when the system runs short of memory: nothing that cannot be made again. The
// signal comes from any thread; the worker responds, inside a turn before the next pass.
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
  // `vision`: null where the model cannot see.
  MemoryPressure(Lifecycle& backend, std::shared_ptr<PromptCache> cache, Vision* vision)
      : backend_(&backend), cache_(std::move(cache)), vision_(vision) {}

  // Any thread.
  void signal(bool critical);

  void add(Timeline* timeline);
  void remove(Timeline* timeline);
  void end();  // the back end goes away
  // The worker, where nobody needs the results of a pass that is over.
  void respond();

 private:
  enum Wanted : int { nothing, some, most };

  std::atomic<int> wanted_{nothing};
  std::mutex lock_;  // of what follows
  Lifecycle* backend_;
  std::shared_ptr<PromptCache> cache_;
  Vision* vision_;
  std::set<Timeline*> timelines_;
};

}  // namespace longhand
