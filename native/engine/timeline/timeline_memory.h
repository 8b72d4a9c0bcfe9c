// Memory of a timeline, built from the layouts that a family declares: allocation, growth, snapshots, truncation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "architectures/shared/describe.h"

namespace longhand {

// The fixed-size states (recurrent, convolution) at a length. Growing caches need no copy: they are truncated.
struct Snapshot {
  int64_t length = 0;
  std::vector<BufferPtr> states;
};

class TimelineMemory {
 public:
  TimelineMemory(Backend& backend, std::span<const LayerFacts> layers, CacheType type, int64_t limit);

  std::span<LayerMemory> layers() { return layers_; }
  CacheType type() const { return type_; }
  // Whether going back needs snapshots at all.
  bool has_states() const { return has_states_; }
  uint64_t bytes(int64_t tokens) const;
  uint64_t snapshot_bytes() const;

  // Makes room for `tokens` tokens, and for more if memory allows (doubling, up to the limit); the contents stay.
  // Throws OutOfMemory and changes nothing.
  void reserve(int64_t tokens);
  int64_t capacity() const { return capacity_; }  // in tokens
  void clear();                                   // back to an empty timeline
  void cut(int64_t length);                       // truncates the growing caches only
  void save(Snapshot& into, int64_t length);      // reuses the buffers of `into`; throws OutOfMemory
  void restore(const Snapshot& from);             // restores the states and truncates the caches to its length

  // For copies in host memory: rows [first, last) of every cache concatenated, and all states. Call between passes.
  // Compressed keys are not copied but computed again when needed.
  uint64_t row_bytes() const;  // per token
  void read_rows(int64_t first, int64_t last, std::byte* to);
  void write_rows(int64_t first, int64_t last, const std::byte* from);  // there must be room
  void read_states(std::byte* to);                                      // writes snapshot_bytes() bytes
  void write_states(const std::byte* from);
  void set_length(int64_t length);  // after the rows have been written

  // For asynchronous steps: a second slot for every state, which the step writes while the first is read. `back_to`
  // with the `slots` from before a step undoes it without copying.
  using Slots = std::vector<BufferPtr>;
  void open_slots();   // throws OutOfMemory and changes nothing
  void close_slots();  // ops work in place again; the second slots stay allocated for the next open_slots()
  void release_spare_slots() { spare_.clear(); }
  Slots slots();
  void back_to(const Slots& slots, int64_t length);

 private:
  // visit(state, its second slot, bytes)
  template <class Visit>
  void each_state(const Visit& visit);
  // visit(rows of a cache, bytes of a row)
  template <class Visit>
  void each_cache(const Visit& visit);
  void grow(int64_t capacity);

  Backend& backend_;
  std::vector<LayerMemory> layers_;
  std::vector<MemoryLayout> layouts_;
  CacheType type_;
  int64_t limit_;
  int64_t capacity_ = 0;
  bool has_states_ = false;
  Slots spare_;  // second slots while closed
};

}  // namespace longhand
