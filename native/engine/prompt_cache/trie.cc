#include "engine/prompt_cache/trie.h"

#include <algorithm>

namespace longhand {

Node* Node::child(std::span<const int32_t> stretch) const {
  const auto found = std::ranges::find_if(
      children, [&](const std::unique_ptr<Node>& node) { return std::ranges::equal(node->tokens, stretch); });
  return found == children.end() ? nullptr : found->get();
}

Node& Node::grow(std::span<const int32_t> stretch) {
  if (Node* known = child(stretch)) return *known;
  auto node = std::make_unique<Node>();
  node->parent = this;
  node->tokens.assign(stretch.begin(), stretch.end());
  node->name = name.then(stretch);
  node->end = end + static_cast<int64_t>(stretch.size());
  children.push_back(std::move(node));
  return *children.back();
}

Known Node::known(std::span<const int32_t> rest) const {
  Known best{0, !children.empty() && !rest.empty()};
  for (const std::unique_ptr<Node>& node : children) {
    const auto same = std::ranges::mismatch(node->tokens, rest).in1 - node->tokens.begin();
    const auto size = static_cast<int64_t>(node->tokens.size());
    Known here{same, same < size && same < static_cast<int64_t>(rest.size())};
    if (same == size) {
      const Known beyond = node->known(rest.subspan(node->tokens.size()));
      here = {same + beyond.tokens, beyond.differs};
    }
    if (here.tokens > best.tokens) best = here;
  }
  return best;
}

namespace {

struct Evictable {
  Node* node;
  double score;
  bool pinned;
};

bool has_pages_below(const Node& node) {
  return std::ranges::any_of(node.children, [](const std::unique_ptr<Node>& child) { return child->page != nullptr; });
}

// `seconds`: the time to read from the last states on the path, or from the root, up to this node.
void collect(Node& node, double seconds, uint64_t clock, bool has_states, std::vector<Evictable>& out) {
  const double lost = seconds + node.seconds;
  const bool leaf = !has_pages_below(node);
  // Without states only leaves can be evicted: the other nodes' children need them.
  const bool removable = node.parent && !node.busy && node.bytes() > 0 && (leaf || (has_states && node.states));
  if (removable) {
    const uint64_t bytes = (node.states ? node.states->size() : 0) + (leaf && node.page ? node.page->size() : 0);
    const double worth = !has_states ? node.seconds : node.states ? lost : 0.0;
    const double age = 1.0 + static_cast<double>(clock - node.used);
    // A first message used by only one chat is worth no more than that chat.
    const bool shared = node.pinned && node.children.size() > 1;
    out.push_back({&node, worth / (static_cast<double>(bytes) * age), shared});
  }
  const double after = has_states && !node.states ? lost : 0.0;
  for (const std::unique_ptr<Node>& child : node.children) collect(*child, after, clock, has_states, out);
}

uint64_t drop(Node& node) {
  uint64_t freed = node.states ? node.states->size() : 0;
  node.thinned = node.thinned || node.states;
  node.states = nullptr;
  if (has_pages_below(node)) return freed;
  freed += node.page ? node.page->size() : 0;
  node.page = nullptr;
  return freed;
}

size_t count(const Node& node) {
  size_t sum = 1;
  for (const std::unique_ptr<Node>& child : node.children) sum += count(*child);
  return sum;
}

// Removes leaves without memory; returns true if this node is one.
bool is_empty_end(Node& node, uint64_t before) {
  std::erase_if(node.children, [&](const std::unique_ptr<Node>& child) { return is_empty_end(*child, before); });
  return node.children.empty() && node.bytes() == 0 && !node.busy && node.used <= before;
}

void collect_clocks(const Node& node, std::vector<uint64_t>& out) {
  out.push_back(node.used);
  for (const std::unique_ptr<Node>& child : node.children) collect_clocks(*child, out);
}

}  // namespace

uint64_t evict(std::span<const std::unique_ptr<Node>> roots, uint64_t wanted, uint64_t clock, bool has_states) {
  uint64_t freed = 0;
  while (freed < wanted) {
    std::vector<Evictable> candidates;
    for (const std::unique_ptr<Node>& root : roots) collect(*root, 0, clock, has_states, candidates);
    if (candidates.empty()) break;
    std::ranges::sort(candidates, [](const Evictable& a, const Evictable& b) {
      return a.pinned != b.pinned ? b.pinned : a.score < b.score;
    });
    // Each eviction changes the value of the other nodes, so only the cheapest few are evicted before they are weighed
    // again.
    const size_t some = candidates.front().pinned ? 1 : candidates.size() / 8 + 1;
    for (size_t i = 0; i < some && freed < wanted; ++i) freed += drop(*candidates[i].node);
  }
  return freed;
}

void forget_empty(std::span<const std::unique_ptr<Node>> roots, size_t most) {
  size_t nodes = 0;
  for (const std::unique_ptr<Node>& root : roots) nodes += count(*root);
  if (nodes <= most) return;
  std::vector<uint64_t> clocks;
  for (const std::unique_ptr<Node>& root : roots) collect_clocks(*root, clocks);
  const auto middle = clocks.begin() + static_cast<ptrdiff_t>(clocks.size() / 2);
  std::ranges::nth_element(clocks, middle);
  for (const std::unique_ptr<Node>& root : roots)
    std::erase_if(root->children, [&](const std::unique_ptr<Node>& child) { return is_empty_end(*child, *middle); });
}

}  // namespace longhand
