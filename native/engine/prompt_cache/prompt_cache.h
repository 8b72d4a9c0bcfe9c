// What a model has read, for every timeline and every later prompt: keys and values in pages shared by reference,
// states at boundaries. A prefix comes back by copying it into a timeline, bit for bit what reading it again would
// give.
//
// Everything but the marked calls runs on the model's worker.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/prompt_cache/boundaries.h"
#include "engine/prompt_cache/disk_tier.h"
#include "engine/prompt_cache/trie.h"
#include "engine/timeline/timeline_memory.h"

namespace longhand {

// What stands in front of a prompt in the cache.
struct CachedPrefix {
  int64_t length = 0;            // tokens that can be restored
  Known known;                   // of which it has been told, here or on the other path
  bool evicted = false;          // more than `length` could be restored once
  bool other_path = false;       // only another path, or another regime of attention, knows the prompt
  std::vector<const Node*> way;  // from the first boundary to `length`
};

class PromptCache {
 public:
  // Any thread.
  void set_budget(uint64_t bytes) { budget_ = bytes; }
  uint64_t budget() const { return budget_; }
  uint64_t bytes() const { return bytes_; }
  bool on() const { return budget_ > 0; }
  // Null: nothing is kept on disk.
  void use_disk(std::shared_ptr<DiskTier> disk);
  std::shared_ptr<DiskTier> disk() const;

  // The longest prefix of `prompt` of at most `limit` tokens that ends at one of `ends` and whose states are here. Keys
  // and values of the first `held` tokens stand in `memory` already, which can go back to `own` by itself: what is on
  // disk alone is read where that is longer. Valid until the next change.
  CachedPrefix find(const TrieKey& key, std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit,
                    int64_t held, int64_t own, const TimelineMemory& memory);
  // Puts `prefix` into a memory that holds the first `held` tokens of it, and has room for it.
  void restore(const CachedPrefix& prefix, int64_t held, TimelineMemory& memory);
  // Remembers `tokens`, which stand in `memory` and end at the last of `ends`, as far as the budget goes. `seconds`:
  // what reading the last stretch took; `branches`: a place to which chats return, so that the states are worth their
  // bytes however near the last ones are; `owner`: on disk it is kept for them, "" keeps nothing there. Returns whether
  // the prefix can be restored from here.
  bool insert(const TrieKey& key, std::span<const int32_t> tokens, std::span<const Boundary> ends,
              TimelineMemory& memory, double seconds, bool branches, const std::string& owner);
  void clear();
  // Gives back what a smaller budget no longer covers.
  void fit();
  // Under memory pressure: half of it, or all.
  void release_memory(bool critical);

 private:
  Node& root(const TrieKey& key);
  BlobPtr allocate(uint64_t bytes);
  // What reading took, within half and twice the usual: a stretch that was read while the machine was busy would
  // otherwise outlive what is used.
  double fair(double seconds, size_t tokens);
  // on_disk.cc
  enum class Fetched : uint8_t { all, no_room, damaged };
  struct Fetch {
    std::span<const int32_t> prompt;
    std::span<const Boundary> ends;
    int64_t held, own;
    const TimelineMemory& memory;
  };
  Fetched fetch(Node& from, const Fetch& wanted);
  Fetched fetch(Node& node, EntryKind kind, uint64_t bytes);
  void used_on_disk(std::span<const Node* const> way);
  void write_behind(std::span<Node* const> way, const Boundary& last, bool branches, const std::string& owner);

  std::vector<TrieKey> keys_;
  std::vector<std::unique_ptr<Node>> roots_;  // one for each of keys_
  bool has_states_ = false;
  uint64_t clock_ = 0;
  double seconds_a_token_ = 0;  // usually
  std::atomic<uint64_t> budget_{0}, bytes_{0};
  mutable std::mutex lock_;  // of what follows
  std::shared_ptr<DiskTier> disk_;
};

}  // namespace longhand
