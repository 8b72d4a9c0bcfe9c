// Tells a background thread when a back end is idle, so that it uses the GPU only then.
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
  // Wakes every waiter for good.
  void close() {
    const std::lock_guard guard(lock_);
    closed_ = true;
    changed_.notify_all();
  }
  // Waits until the back end is idle and returns how often work has begun so far. Empty when the back end closes.
  std::optional<uint64_t> quiet() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return closed_ || !working_; });
    return closed_ ? std::nullopt : std::optional(begun_);
  }
  // True if no work has begun since `quiet` returned this number.
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
