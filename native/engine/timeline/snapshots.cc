#include "engine/timeline/snapshots.h"

#include <algorithm>

#include "engine/memory_plan.h"
#include "formats/error.h"

namespace longhand {

namespace {

// The most bytes of requested snapshots in a timeline; two are always kept. Automatic snapshots are limited by the
// memory plan.
constexpr uint64_t max_requested_bytes = 512'000'000 / 3;
constexpr uint64_t max_requested = 64;

}  // namespace

std::vector<int64_t> Snapshots::lengths() const {
  const std::lock_guard lock(lock_);
  std::vector<int64_t> out;
  for (const Entry& entry : entries_) out.push_back(entry.snapshot.length);
  return out;
}

const Snapshot* Snapshots::nearest(int64_t length) const {
  const Snapshot* best = nullptr;
  for (const auto& [snapshot, kind] : entries_) {
    if (snapshot.length <= length && (!best || snapshot.length > best->length)) best = &snapshot;
  }
  return best;
}

size_t Snapshots::limit(SnapshotKind kind) const {
  if (kind == SnapshotKind::system_prompt) return 1;
  if (kind != SnapshotKind::requested) return static_cast<size_t>(automatic_snapshots(memory_.snapshot_bytes()));
  return std::clamp<uint64_t>(max_requested_bytes / memory_.snapshot_bytes(), 2, max_requested);
}

// The buffers for the next snapshot of a kind: those of the oldest one if the limit is reached, else empty.
Snapshot Snapshots::take_buffers_of_oldest(SnapshotKind kind) {
  const auto same_kind = [&](const Entry& entry) { return entry.kind == kind; };
  if (static_cast<size_t>(std::ranges::count_if(entries_, same_kind)) < limit(kind)) return {};
  const std::lock_guard lock(lock_);
  const auto oldest = std::ranges::find_if(entries_, same_kind);
  Snapshot buffers = std::move(oldest->snapshot);
  entries_.erase(oldest);
  return buffers;
}

void Snapshots::take(int64_t length, SnapshotKind kind) {
  if (!memory_.has_states() || length == 0) return;
  const auto here = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.snapshot.length == length; });
  if (here != entries_.end()) {
    here->kind = std::min(here->kind, kind);
    return;
  }
  Entry fresh{take_buffers_of_oldest(kind), kind};
  try {
    memory_.save(fresh.snapshot, length);
  } catch (const OutOfMemory&) {
    return;
  }
  const std::lock_guard lock(lock_);
  entries_.push_back(std::move(fresh));
}

void Snapshots::forget_after(int64_t length) {
  const std::lock_guard lock(lock_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.snapshot.length > length; });
}

void Snapshots::release_memory(int64_t length, bool critical) {
  const Snapshot* near = nearest(length);
  const int64_t spared = near && !critical ? near->length : -1;
  const std::lock_guard lock(lock_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.snapshot.length != spared; });
}

}  // namespace longhand
