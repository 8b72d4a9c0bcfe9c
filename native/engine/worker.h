// The thread that runs all of a model's computations, so that a back end runs one pass at a time. Jobs of one owner run
// in order; jobs of different owners alternate step by step. In each round every job that is writing takes one step,
// and so does the oldest other job. Between two of its tokens an answer therefore waits for at most one chunk of
// another prompt, or for a whole job without steps. Closing does not block: it asks running jobs to stop and runs
// waiting ones as closed.
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

// What a job's step reports.
enum class Turn : uint8_t { reads, writes, over };

struct Job {
  const void* owner = nullptr;  // the session it belongs to
  CancelFlag cancel{};          // set if the owner or the worker closes; may be null
  std::function<Turn(bool closed)>
      run;  // takes one step; `closed`: the worker or the owner closed before the job began
  // Called before another job computes: ends what still runs of this job's last step.
  std::function<void()> pause{};
  bool computes = true;  // false: uses nothing that a job which has not paused could still be using
};

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(Job job);
  void close_owner(const void* owner);  // cancels its running job and runs its waiting ones as closed
  // Within a step: whether another owner's job will compute next.
  bool others_wait() const;
  void close();

  // Outlives the worker: before the process ends, wait here for the thread to finish.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    struct Entry {
      Job job;
      Turn next = Turn::reads;
      bool begun = false;
      bool closed = false;  // closed before it began
      int64_t round = 0;    // the last round in which it took a step
    };
    std::list<Entry> jobs;           // in order of arrival
    const Entry* running = nullptr;  // whose step is being taken
    int64_t round = 1;
    bool closing = false;
    bool finished = false;

    void close();
    void wait_finished();
    // Chooses the next job. There must be one, and `mutex` must be held.
    std::list<Entry>::iterator choose();
  };
  std::shared_ptr<State> state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace longhand
