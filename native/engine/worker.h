// One thread for everything a model computes, so that a back end sees one pass at a time. The jobs of one owner run in
// order; those of several take turns, a step each. In a round every job that writes takes one step, and one other job
// does: the first that came. So a stream of tokens waits for at most one chunk of somebody else's prompt between two of
// its own, and for a job without steps as long as that takes.
// Nobody waits for the worker: closing asks the jobs that have begun to stop, and the rest is told that it comes too
// late.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace longhand {

using CancelFlag = std::shared_ptr<std::atomic<bool>>;
inline CancelFlag make_cancel_flag() { return std::make_shared<std::atomic<bool>>(false); }

// What a job does next.
enum class Turn : uint8_t { reads, writes, over };

struct Job {
  const void* owner = nullptr;           // the session it belongs to
  CancelFlag cancel;                     // set when the owner or the worker closes; may be null
  std::function<Turn(bool closed)> run;  // one step; `closed`: the worker or the owner closed before it began
};

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(Job job);
  void close_owner(const void* owner);  // its job that has begun is cancelled, its waiting ones run as closed
  void close();

  // Outlives the worker: whoever tears the process down waits here for the thread's last step.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    struct Entry {
      Job job;
      Turn next = Turn::reads;
      bool begun = false;
      bool closed = false;  // before it began
      int64_t round = 0;    // the last in which it took a step
    };
    std::list<Entry> jobs;  // as they came
    int64_t round = 1;
    bool closing = false;
    bool finished = false;

    void close();
    void wait_finished();
    // Whose turn it is. There is a job, and `mutex` is held.
    std::list<Entry>::iterator choose();
  };
  std::shared_ptr<State> state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace longhand
