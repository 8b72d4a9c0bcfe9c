#include "engine/worker.h"

#include <algorithm>
#include <vector>

#include "engine/machine/allocator.h"
#include "engine/pulse.h"

namespace longhand {

namespace {

void run_jobs(const std::shared_ptr<Worker::State>& state) {
  std::unique_lock lock(state->mutex);
  const Worker::State::Entry* last = nullptr;  // computed last and goes on
  for (;;) {
    state->changed.wait(lock, [&] { return state->closing || !state->jobs.empty(); });
    if (state->jobs.empty()) break;
    const auto entry = state->choose();
    const bool closed = !entry->begun && (state->closing || entry->closed);
    entry->begun = true;
    state->running = &*entry;
    lock.unlock();
    pulse.running.fetch_add(1);
    pulse.step();
    if (last && last != &*entry && entry->job.computes && last->job.pause) last->job.pause();
    const Turn next = entry->job.run(closed);
    lock.lock();
    entry->next = next;
    state->running = nullptr;
    if (entry->job.computes) last = next == Turn::over ? nullptr : &*entry;
    std::list<Worker::State::Entry> over;
    if (next == Turn::over) over.splice(over.begin(), state->jobs, entry);
    lock.unlock();
    // The job may hold the last reference to a session or to this worker, so it is released without the lock.
    over.clear();
    pulse.running.fetch_sub(1);
    lock.lock();
  }
  state->finished = true;
  state->changed.notify_all();
  lock.unlock();
  return_freed_memory();  // of the model, which is gone with its last job
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
      state_->jobs.push_back({std::move(job)});
      state_->changed.notify_all();
      return;
    }
  }
  job.run(true);
}

void Worker::close_owner(const void* owner) {
  const std::lock_guard lock(state_->mutex);
  for (State::Entry& entry : state_->jobs) {
    if (entry.job.owner != owner) continue;
    if (!entry.begun) entry.closed = true;
    else if (entry.job.cancel) entry.job.cancel->store(true);
  }
}

bool Worker::others_wait() const {
  const std::lock_guard lock(state_->mutex);
  const State::Entry* running = state_->running;
  return running && std::ranges::any_of(state_->jobs, [&](const State::Entry& each) {
           return each.job.computes && each.job.owner != running->job.owner;
         });
}

void Worker::close() { state_->close(); }

void Worker::State::close() {
  const std::lock_guard lock(mutex);
  closing = true;
  for (Entry& entry : jobs) {
    if (entry.begun && entry.job.cancel) entry.job.cancel->store(true);
  }
  changed.notify_all();
}

std::list<Worker::State::Entry>::iterator Worker::State::choose() {
  std::vector<const void*> seen;
  auto other = jobs.end();
  for (auto entry = jobs.begin(); entry != jobs.end(); ++entry) {
    // Jobs of one owner run in order.
    if (std::ranges::find(seen, entry->job.owner) != seen.end()) continue;
    seen.push_back(entry->job.owner);
    if (entry->next != Turn::writes) {
      if (other == jobs.end()) other = entry;
    } else if (entry->round < round) {
      entry->round = round;
      return entry;
    }
  }
  ++round;
  if (other != jobs.end()) return other;
  jobs.front().round = round;
  return jobs.begin();  // all are writing: start the next round
}

void Worker::State::wait_finished() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return finished; });
}

}  // namespace longhand
