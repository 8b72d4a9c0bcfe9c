// Whether a back end works, as told to a thread that wants the GPU only while it does not.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace longhand::metal {

class Activity {
 public:
  void set(bool working) {
    const std::lock_guard guard(lock_);
    if (working == working_) return;
    working_ = working;
    if (working) ++begun_;
    changed_.notify_all();
  }
  // Nobody waits any more.
  void close() {
    const std::lock_guard guard(lock_);
    closed_ = true;
    changed_.notify_all();
  }
  // Returns when nothing is worked at: how often work has begun so far. Nothing when the back end closes.
  std::optional<uint64_t> quiet() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return closed_ || !working_; });
    return closed_ ? std::nullopt : std::optional(begun_);
  }
  // No work has begun since `quiet` said so.
  bool still(uint64_t begun) {
    const std::lock_guard guard(lock_);
    return begun == begun_;
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool working_ = false, closed_ = false;
  uint64_t begun_ = 0;
};

}  // namespace longhand::metal
