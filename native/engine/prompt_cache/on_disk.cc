// The prompt cache's use of the disk tier.
#include "engine/prompt_cache/prompt_cache.h"

namespace longhand {

namespace {

// A boundary on a prompt's path from the root.
struct Step {
  int64_t begin, end;
  bool rows;  // already in memory
};

}  // namespace

PromptCache::Fetched PromptCache::fetch(Node& node, EntryKind kind, uint64_t bytes) {
  const BlobPtr blob = allocate(bytes);
  if (!blob) return Fetched::no_room;
  if (!disk()->get(node.name, kind, node.tokens, {blob->data(), blob->size()})) {
    bytes_ -= bytes;
    return Fetched::damaged;
  }
  (kind == EntryKind::rows ? node.page : node.states) = blob;
  return Fetched::all;
}

// Loads from disk what is missing in memory to restore the longest possible prefix.
PromptCache::Fetched PromptCache::fetch(Node& from, const Fetch& wanted) {
  const std::shared_ptr<DiskTier> disk = this->disk();
  const bool has_states = wanted.memory.has_states();
  const auto stretch = [&](int64_t begin, int64_t end) {
    return wanted.prompt.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  std::vector<Step> steps;
  Node* node = &from;
  EntryName name = from.name;
  int64_t begin = 0;
  size_t known = 0, best = 0;  // steps of the longest prefix in memory, and including the disk
  bool in_memory = true;
  for (const Boundary& boundary : wanted.ends) {
    name = name.then(stretch(begin, boundary.end));
    node = node ? node->child(stretch(begin, boundary.end)) : nullptr;
    const bool rows = (node && node->page) || boundary.end <= wanted.held, states = node && node->states;
    if (!rows && !disk->has(name, EntryKind::rows)) break;
    steps.push_back({begin, boundary.end, rows});
    begin = boundary.end;
    in_memory = in_memory && rows;
    if ((in_memory && (!has_states || states)) || boundary.end <= wanted.own) known = steps.size();
    if (!has_states || states || disk->has(name, EntryKind::states)) best = steps.size();
  }
  if (best <= known) return Fetched::all;
  steps.resize(best);
  std::vector<Node*> way;
  for (const Step& step : steps) {
    way.push_back(&(way.empty() ? from : *way.back()).grow(stretch(step.begin, step.end)));
    way.back()->busy = true;
    way.back()->used = clock_;
  }
  Fetched out = Fetched::all;
  for (size_t i = 0; i < way.size() && out == Fetched::all; ++i) {
    if (!steps[i].rows) out = fetch(*way[i], EntryKind::rows, wanted.memory.row_bytes() * way[i]->tokens.size());
  }
  if (out == Fetched::all && has_states && !way.back()->states)
    out = fetch(*way.back(), EntryKind::states, wanted.memory.snapshot_bytes());
  for (Node* each : way) each->busy = false;
  return out;
}

void PromptCache::used_on_disk(std::span<const Node* const> way) {
  std::vector<EntryName> names;
  for (const Node* node : way) names.push_back(node->name);
  disk()->used(names);
}

// States are written only where chats continue; the others are only useful while in memory.
void PromptCache::write_behind(std::span<Node* const> way, const Boundary& last, bool branches,
                               const std::string& owner) {
  const std::shared_ptr<DiskTier> disk = this->disk();
  if (!disk || last.kind == Boundary::Kind::last) return;
  for (const Node* node : way) {
    if (node->page) disk->put(node->name, EntryKind::rows, owner, node->tokens, node->page);
  }
  const Node& end = *way.back();
  if (branches && end.states) disk->put(end.name, EntryKind::states, owner, end.tokens, end.states);
  used_on_disk(std::vector<const Node*>(way.begin(), way.end()));
}

}  // namespace longhand
