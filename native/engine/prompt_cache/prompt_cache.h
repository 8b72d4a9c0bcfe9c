// Cache of everything a model has read, shared by all its timelines: keys and values in pages, states at boundaries. A
// prefix is restored by copying it into a timeline, which gives bit for bit what reading it again would.
//
// Calls run on the model's worker unless marked otherwise.
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

// What the cache has of a prompt.
struct CachedPrefix {
  int64_t length = 0;            // tokens that can be restored
  Known known;                   // tokens it has ever been given, on this or the other path
  bool evicted = false;          // more than `length` could once be restored
  bool other_path = false;       // the prompt is only cached for another path or attention regime
  std::vector<const Node*> way;  // from the first boundary to `length`
};

class PromptCache {
 public:
  // Any thread.
  void set_budget(uint64_t bytes) { budget_ = bytes; }
  uint64_t budget() const { return budget_; }
  uint64_t bytes() const { return bytes_; }
  bool on() const { return budget_ > 0; }
  // Null: no disk cache.
  void use_disk(std::shared_ptr<DiskTier> disk);
  std::shared_ptr<DiskTier> disk() const;

  // Finds the longest prefix of `prompt` that ends at one of `ends`, has at most `limit` tokens and has states in the
  // cache. `memory` already holds keys and values of the first `held` tokens and can return to length `own` by itself,
  // so the disk is only read for a longer prefix. Valid until the next change.
  CachedPrefix find(const TrieKey& key, std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit,
                    int64_t held, int64_t own, const TimelineMemory& memory);
  // Copies `prefix` into a memory that holds its first `held` tokens and has room for all of it.
  void restore(const CachedPrefix& prefix, int64_t held, TimelineMemory& memory);
  // Caches `tokens`, which `memory` holds and which end at the last of `ends`, within the budget. `seconds`: the time
  // that reading the last stretch took. `branches`: chats return to this place, so its states are kept even if the
  // previous ones are close. `owner`: the chat whose disk cache gets it; "" for none. Returns whether the prefix can be
  // restored from now on.
  bool insert(const TrieKey& key, std::span<const int32_t> tokens, std::span<const Boundary> ends,
              TimelineMemory& memory, double seconds, bool branches, const std::string& owner);
  void clear();
  // Sets the budget, and evicts what exceeds it.
  void fit();
  // Under memory pressure: evicts half of it, or all.
  void release_memory(bool critical);

 private:
  Node& root(const TrieKey& key);
  BlobPtr allocate(uint64_t bytes);
  // `seconds`, limited to 15 % around the usual time: otherwise a stretch that was read on a busy machine would stay
  // longer than chats that are open.
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
  std::vector<std::unique_ptr<Node>> roots_;  // one per element of keys_
  bool has_states_ = false;
  uint64_t clock_ = 0;
  double seconds_a_token_ = 0;  // usually
  std::atomic<uint64_t> budget_{0}, bytes_{0};
  mutable std::mutex lock_;  // guards the members below
  std::shared_ptr<DiskTier> disk_;
};

}  // namespace longhand
