// Copies of a timeline's states at earlier lengths, so that going back does not require reading everything again. Only
// recurrent and convolution states need them; caches that grow with the context are truncated.
#pragma once

#include <mutex>
#include <vector>

#include "engine/timeline/timeline_memory.h"

namespace longhand {

// Why a snapshot was taken. Each kind has its own limit, beyond which its oldest snapshot is dropped.
enum class SnapshotKind : uint8_t {
  requested,      // requested by the caller
  system_prompt,  // the end of the first message, which all branches of a chat share: never dropped
  message_end,
  generated,  // taken while an answer is written
};

class Snapshots {
 public:
  explicit Snapshots(TimelineMemory& memory) : memory_(memory) {}

  // Any thread.
  std::vector<int64_t> lengths() const;

  // The longest snapshot of at most `length` tokens, or null. Valid until the next change. Call on the worker.
  const Snapshot* nearest(int64_t length) const;
  // Copies the current states, after `length` tokens. Does nothing if memory is short: going back is then only slower.
  void take(int64_t length, SnapshotKind kind);
  void forget_after(int64_t length);
  // Under memory pressure: drops all but the one nearest to `length`, and that one too if the pressure is critical.
  void release_memory(int64_t length, bool critical);

 private:
  struct Entry {
    Snapshot snapshot;
    SnapshotKind kind;
  };

  size_t limit(SnapshotKind kind) const;
  Snapshot take_buffers_of_oldest(SnapshotKind kind);

  TimelineMemory& memory_;
  mutable std::mutex lock_;  // guards the list against readers on other threads; only the worker changes it
  std::vector<Entry> entries_;
};

}  // namespace longhand
