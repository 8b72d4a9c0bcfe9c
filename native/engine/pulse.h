// Whether native threads get on. A job that takes no step for minutes hangs, in a driver or in a file on a drive that
// is gone: no flag reaches it, and whoever keeps this process alive ends it.
#pragma once

#include <atomic>
#include <cstdint>

namespace longhand {

// Of the whole process.
struct Pulse {
  std::atomic<int64_t> running{0};  // jobs of all workers
  std::atomic<int64_t> steps{0};    // jobs begun, layers computed, weights prepared

  void step() { steps.fetch_add(1, std::memory_order_relaxed); }
};

inline Pulse pulse;

}  // namespace longhand
