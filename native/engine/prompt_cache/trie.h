// The trie of what has been read: a node is the stretch between two boundaries, with the keys and values of its tokens
// (a page, shared by all that goes on from it) and, where it is kept, the state after it. Nodes are told apart by their
// exact tokens and cuts, so that two ways of reading never mix.
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

// What is known of a prompt: so many tokens; whether what is known goes on in another way.
struct Known {
  int64_t tokens = 0;
  bool differs = false;
};

struct Node {
  Node* parent = nullptr;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<int32_t> tokens;
  EntryName name;        // of everything from the root to here
  int64_t end = 0;       // tokens from the root to here
  BlobPtr page;          // rows of `tokens`; null: evicted
  BlobPtr states;        // null: none kept
  double seconds = 0;    // what reading the tokens took
  uint64_t used = 0;     // by the cache's clock
  bool pinned = false;   // while chats branch here: evicted when nothing else is left
  bool thinned = false;  // it had states
  bool busy = false;     // on the way that is being written: not evicted

  uint64_t bytes() const { return (page ? page->size() : 0) + (states ? states->size() : 0); }
  Node* child(std::span<const int32_t> stretch) const;
  // Adds one where there is none.
  Node& grow(std::span<const int32_t> stretch);
  // How much of `rest` something below this node begins with, by whatever cuts.
  Known known(std::span<const int32_t> rest) const;
};

// Which of the timelines' ways of reading a trie is of.
struct TrieKey {
  uint8_t path = 0, cache = 0;
  bool sparse = false;
  bool operator==(const TrieKey&) const = default;
};

// Gives back at least `wanted` bytes, if there are so many that are not busy: first what is cheap to read again for its
// size and was not used lately. Returns how many it gave back. `has_states`: a prefix is of use only with states at its
// end; what lies behind the last of them goes with it.
uint64_t evict(std::span<const std::unique_ptr<Node>> roots, uint64_t wanted, uint64_t clock, bool has_states);
// Nodes without memory tell why something is read again; beyond `most` nodes they are forgotten.
void forget_empty(std::span<const std::unique_ptr<Node>> roots, size_t most);

}  // namespace longhand
