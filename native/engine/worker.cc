#include "engine/worker.h"

#include "engine/pulse.h"

namespace longhand {

namespace {

void run_jobs(const std::shared_ptr<Worker::State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->closing || !state->queue.empty(); });
    if (state->queue.empty()) break;
    Job job = std::move(state->queue.front());
    state->queue.pop_front();
    const bool closed = state->closing || job.cancel == nullptr;
    state->running_owner = job.owner;
    state->running_cancel = job.cancel;
    lock.unlock();
    pulse.running.fetch_add(1);
    pulse.step();
    job.run(closed);
    // What the job holds may be the last of a session or of this worker: let go without the lock.
    job = {};
    pulse.running.fetch_sub(1);
    lock.lock();
    state->running_owner = nullptr;
    state->running_cancel = nullptr;
  }
  state->finished = true;
  state->changed.notify_all();
}

}  // namespace

Worker::Worker() : state_(std::make_shared<State>()) {
  std::thread([state = state_] { run_jobs(state); }).detach();
}

Worker::~Worker() { close(); }

void Worker::post(Job job) {
  if (!job.cancel) job.cancel = make_cancel_flag();
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->finished) {
      state_->queue.push_back(std::move(job));
      state_->changed.notify_all();
      return;
    }
  }
  job.run(true);
}

void Worker::close_owner(const void* owner) {
  const std::lock_guard lock(state_->mutex);
  if (state_->running_owner == owner && state_->running_cancel) state_->running_cancel->store(true);
  for (Job& job : state_->queue) {
    if (job.owner == owner) job.cancel = nullptr;
  }
}

void Worker::close() { state_->close(); }

void Worker::State::close() {
  const std::lock_guard lock(mutex);
  closing = true;
  if (running_cancel) running_cancel->store(true);
  changed.notify_all();
}

void Worker::State::wait_finished() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return finished; });
}

}  // namespace longhand
