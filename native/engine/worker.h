// One thread with a queue of jobs, in order: everything a model computes runs here, so that a back end sees one pass at
// a time. Nobody waits for it: closing asks the running job to stop, and the rest is told that it comes too late.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace longhand {

using CancelFlag = std::shared_ptr<std::atomic<bool>>;
inline CancelFlag make_cancel_flag() { return std::make_shared<std::atomic<bool>>(false); }

struct Job {
  const void* owner = nullptr;           // the session it belongs to
  CancelFlag cancel;                     // set when the owner or the worker closes
  std::function<void(bool closed)> run;  // `closed`: the worker or the owner closed before it began
};

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(Job job);
  void close_owner(const void* owner);  // its running job is cancelled, its waiting ones run as closed
  void close();

  // Outlives the worker: whoever tears the process down waits here for the thread's last step.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Job> queue;
    const void* running_owner = nullptr;
    CancelFlag running_cancel;
    bool closing = false;
    bool finished = false;

    void close();
    void wait_finished();
  };
  std::shared_ptr<State> state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace longhand
