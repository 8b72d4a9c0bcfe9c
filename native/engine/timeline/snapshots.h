// States of a timeline at earlier lengths, so that going back does not mean reading everything again. Only recurrent
// and convolution states need them: what grows with the context is cut.
#pragma once

#include <mutex>
#include <vector>

#include "engine/timeline/timeline_memory.h"

namespace longhand {

// Why a snapshot was taken. Each kind has a limit of its own, and the oldest of its kind makes room.
enum class SnapshotKind : uint8_t {
  requested,      // by the caller
  system_prompt,  // the end of the first message, where every branch of a chat begins: never makes room
  message_end,
  generated,  // while an answer is written
};

class Snapshots {
 public:
  explicit Snapshots(TimelineMemory& memory) : memory_(memory) {}

  // Any thread.
  std::vector<int64_t> lengths() const;

  // The worker.
  // The longest of at most `length` tokens; null when there is none. Valid until the next change.
  const Snapshot* nearest(int64_t length) const;
  // Remembers the states as they stand, after `length` tokens. Going back is possible without it, only slower: where
  // memory is missing nothing happens.
  void take(int64_t length, SnapshotKind kind);
  void forget_after(int64_t length);
  // Under memory pressure: the one nearest to `length` stays, unless the pressure is critical.
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
