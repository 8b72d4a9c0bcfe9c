// What a timeline remembers, made from the families' declarations alone: allocation, growth, snapshots, cutting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "architectures/shared/describe.h"

namespace longhand {

// The fixed-size states (recurrent, convolution) at a length. What grows needs no copy: it is cut.
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

  // Room for `tokens` tokens, and for more where memory allows (doubling, up to the limit); what is there stays. Throws
  // OutOfMemory and changes nothing.
  void reserve(int64_t tokens);
  int64_t capacity() const { return capacity_; }  // tokens there is room for
  void clear();                                   // an empty timeline
  void cut(int64_t length);                       // the growing parts only
  void save(Snapshot& into, int64_t length);      // reuses the buffers of `into`; throws OutOfMemory
  void restore(const Snapshot& from);             // states, and the growing parts cut to its length

  // For copies outside of the device: rows [first, last) of every cache one after the other, and all states. Between
  // passes. What is compressed of the keys is made anew when it is needed.
  uint64_t row_bytes() const;  // of one token
  void read_rows(int64_t first, int64_t last, std::byte* to);
  void write_rows(int64_t first, int64_t last, const std::byte* from);  // there is room
  void read_states(std::byte* to);                                      // snapshot_bytes() of them
  void write_states(const std::byte* from);
  void set_length(int64_t length);  // of caches whose rows have been written

  // For asynchronous steps: a second slot for every state, the one that is not read. `slots` before such a step is what
  // `back_to` returns to, without a byte copied.
  using Slots = std::vector<BufferPtr>;
  void open_slots();   // throws OutOfMemory and changes nothing
  void close_slots();  // ops work in place again; the slots are spare until they are opened next
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
  Slots spare_;  // second slots that no op uses
};

}  // namespace longhand
