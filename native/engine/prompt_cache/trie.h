// Trie of cached prompts. A node is the stretch between two boundaries: the keys and values of its tokens (a page that
// all continuations share) and optionally the state after it. Nodes are identified by their exact tokens and cuts, so
// differently cut prompts never mix.
//
//   root ── system ──┬── question 1 ── answer 1 ──┬── question 2
//                    │                            └── question 2, edited
//                    └── another chat
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/prompt_cache/blob.h"
#include "engine/prompt_cache/entry_name.h"

namespace longhand {

// How many tokens of a prompt are known, and whether the known text continues differently.
struct Known {
  int64_t tokens = 0;
  bool differs = false;
};

struct Node {
  Node* parent = nullptr;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<int32_t> tokens;
  EntryName name;        // the name of the path from the root to here
  int64_t end = 0;       // tokens from the root to here
  BlobPtr page;          // cache rows of `tokens`; null: evicted
  BlobPtr states;        // null: not kept
  double seconds = 0;    // time that reading the tokens took
  uint64_t used = 0;     // time of last use, by the cache's clock
  bool pinned = false;   // chats branch here: evicted last
  bool thinned = false;  // its states have been evicted
  bool busy = false;     // on the path that is being written: not evicted

  uint64_t bytes() const { return (page ? page->size() : 0) + (states ? states->size() : 0); }
  Node* child(std::span<const int32_t> stretch) const;
  // Adds a node if there is none.
  Node& grow(std::span<const int32_t> stretch);
  // The longest prefix of `rest` that is known below this node, whatever the cuts.
  Known known(std::span<const int32_t> rest) const;
};

// The path and attention regime that a trie belongs to.
struct TrieKey {
  uint8_t path = 0, cache = 0;
  bool sparse = false;
  bool operator==(const TrieKey&) const = default;
};

// Frees at least `wanted` bytes if that many are not busy, beginning with nodes that are cheap to read again for their
// size and have not been used lately. Returns the number of bytes freed. `has_states`: a prefix is only usable up to
// its last states, so nodes after them are freed with them.
uint64_t evict(std::span<const std::unique_ptr<Node>> roots, uint64_t wanted, uint64_t clock, bool has_states);
// Nodes without memory record why a prompt is read again. If there are more than `most` nodes, they are removed.
void forget_empty(std::span<const std::unique_ptr<Node>> roots, size_t most);

}  // namespace longhand
