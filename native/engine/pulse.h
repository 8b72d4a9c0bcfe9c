// Progress of the native threads. A job without progress for minutes hangs in a driver or in a file on a disconnected
// drive. It cannot be cancelled; the supervisor must kill this process.
#pragma once

#include <atomic>
#include <cstdint>

namespace longhand {

// The counters of this process.
struct Pulse {
  std::atomic<int64_t> running{0};  // running jobs of all workers
  std::atomic<int64_t> steps{0};    // jobs started, layers computed and weights prepared

  void step() { steps.fetch_add(1, std::memory_order_relaxed); }
};

inline Pulse pulse;

}  // namespace longhand
