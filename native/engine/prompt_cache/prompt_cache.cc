#include "engine/prompt_cache/prompt_cache.h"

#include <algorithm>

#include "engine/machine/available_memory.h"

namespace longhand {

namespace {

// States closer together than this are kept only where chats branch: reading so few tokens again is cheaper.
constexpr int64_t states_apart = 256;
constexpr size_t most_nodes = 8192;
// Memory left to the rest of the system.
constexpr uint64_t system_reserve_bytes = 512'000'000;

std::span<const int32_t> stretch(std::span<const int32_t> tokens, int64_t first, int64_t end) {
  return tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(end - first));
}

}  // namespace

Node& PromptCache::root(const TrieKey& key) {
  const auto found = std::ranges::find(keys_, key);
  if (found != keys_.end()) return *roots_[static_cast<size_t>(found - keys_.begin())];
  keys_.push_back(key);
  roots_.push_back(std::make_unique<Node>());
  const uint8_t facts[] = {key.path, key.cache, key.sparse};
  roots_.back()->name = {xxh64(std::as_bytes(std::span(facts)), 1), xxh64(std::as_bytes(std::span(facts)), 2)};
  return *roots_.back();
}

CachedPrefix PromptCache::find(const TrieKey& key, std::span<const int32_t> prompt, std::span<const Boundary> ends,
                               int64_t limit, int64_t held, int64_t own, const TimelineMemory& memory) {
  const bool has_states = has_states_ = memory.has_states();
  ++clock_;
  if (disk()) {
    const auto beyond = std::ranges::find_if(ends, [&](const Boundary& each) { return each.end > limit; });
    const Fetch wanted{prompt, ends.first(static_cast<size_t>(beyond - ends.begin())), held, own, memory};
    // A damaged entry has been deleted by now; a shorter prefix may still be available.
    while (fetch(root(key), wanted) == Fetched::damaged) continue;
  }
  CachedPrefix out;
  Node* node = &root(key);
  std::vector<const Node*> way;
  bool whole = true;
  for (const Boundary& boundary : ends) {
    if (boundary.end > limit) break;
    node = node->child(stretch(prompt, node->end, boundary.end));
    if (!node) break;
    way.push_back(node);
    whole = whole && (node->page || node->end <= held);
    if (!whole || (has_states && !node->states)) {
      // If only some boundaries keep states, one without has not lost any.
      out.evicted = out.evicted || !whole || node->thinned;
      continue;
    }
    out.length = node->end;
    out.way = way;
    out.evicted = false;
  }
  for (const Node* used : out.way) const_cast<Node*>(used)->used = clock_;
  if (disk()) used_on_disk(out.way);
  out.known = root(key).known(prompt);
  if (out.known.tokens > 0) return out;
  for (const std::unique_ptr<Node>& other : roots_) {
    const Known there = other->known(prompt);
    if (there.tokens > out.known.tokens) out.known = there;
  }
  out.other_path = out.known.tokens > 0;
  return out;
}

void PromptCache::restore(const CachedPrefix& prefix, int64_t held, TimelineMemory& memory) {
  memory.cut(std::min(held, prefix.length));
  int64_t at = 0;
  for (const Node* node : prefix.way) {
    if (node->end > held) memory.write_rows(at, node->end, node->page->data());
    at = node->end;
  }
  memory.set_length(prefix.length);
  if (memory.has_states()) memory.write_states(prefix.way.back()->states->data());
}

// Room within the budget and the machine's free memory.
BlobPtr PromptCache::allocate(uint64_t bytes) {
  const auto over = [&] { return bytes_ + bytes > budget_ ? bytes_ + bytes - budget_ : 0; };
  if (const uint64_t wanted = over()) bytes_ -= evict(roots_, wanted, clock_, has_states_);
  if (over()) return nullptr;
  if (const uint64_t free = available_memory(); free < bytes + system_reserve_bytes) {
    bytes_ -= evict(roots_, bytes + system_reserve_bytes - free, clock_, has_states_);
    if (available_memory() < bytes + system_reserve_bytes / 2) return nullptr;
  }
  BlobPtr blob = Blob::allocate(bytes);
  if (blob) bytes_ += bytes;
  return blob;
}

bool PromptCache::insert(const TrieKey& key, std::span<const int32_t> tokens, std::span<const Boundary> ends,
                         TimelineMemory& memory, double seconds, bool branches, const std::string& owner) {
  if (!on()) return false;
  has_states_ = memory.has_states();
  const uint64_t row = memory.row_bytes();
  Node* node = &root(key);
  std::vector<Node*> way;
  int64_t states_at = 0;
  bool whole = true;
  for (const Boundary& boundary : ends) {
    Node& next = node->grow(stretch(tokens, node->end, boundary.end));
    next.busy = true;
    next.used = clock_;
    next.pinned = next.pinned || boundary.kind == Boundary::Kind::first_message;
    way.push_back(&next);
    if (!next.page) {
      if (boundary.end == ends.back().end) next.seconds = fair(seconds, next.tokens.size());
      next.page = allocate(row * next.tokens.size());
      whole = next.page != nullptr;
      if (!whole) break;
      memory.read_rows(node->end, next.end, next.page->data());
    }
    node = &next;
    if (node->states && boundary.end < ends.back().end) states_at = node->end;
  }
  const Boundary& last = ends.back();
  if (whole && has_states_ && !node->states && (branches || last.end - states_at >= states_apart)) {
    node->states = allocate(memory.snapshot_bytes());
    if (node->states) memory.read_states(node->states->data());
  }
  for (Node* each : way) each->busy = false;
  if (whole && !owner.empty()) write_behind(way, last, branches, owner);
  const bool restorable = whole && (!has_states_ || node->states);
  forget_empty(roots_, most_nodes);
  return restorable;
}

double PromptCache::fair(double seconds, size_t tokens) {
  const double each = seconds / static_cast<double>(tokens);
  if (seconds_a_token_ == 0) seconds_a_token_ = each;
  const double within = std::clamp(each, seconds_a_token_ * 0.85, seconds_a_token_ * 1.15);
  seconds_a_token_ += (within - seconds_a_token_) / 8;
  return within * static_cast<double>(tokens);
}

void PromptCache::use_disk(std::shared_ptr<DiskTier> disk) {
  const std::lock_guard lock(lock_);
  disk_.swap(disk);
}

std::shared_ptr<DiskTier> PromptCache::disk() const {
  const std::lock_guard lock(lock_);
  return disk_;
}

void PromptCache::clear() {
  keys_.clear();
  roots_.clear();
  bytes_ = 0;
}

void PromptCache::fit() {
  if (budget_ == 0) clear();
  else if (bytes_ > budget_) bytes_ -= evict(roots_, bytes_ - budget_, clock_, has_states_);
}

void PromptCache::release_memory(bool critical) {
  const uint64_t wanted = critical ? bytes_.load() : bytes_ / 2;
  bytes_ -= evict(roots_, wanted, clock_, has_states_);
}

}  // namespace longhand
