#include "grammar/kernels.h"

#include <algorithm>
#include <map>

#include "grammar/limits.h"

namespace longhand::grammar {

Kernels::Kernels(const Automaton& automaton)
    : automaton_(automaton), classes_(static_cast<size_t>(automaton.classes())) {
  clear();
}

void Kernels::clear() {
  kernels_ = {{}, {.ends = true}, {.returns = true}};
  next_.assign(kernels_.size() * classes_, dead);
  numbers_.clear();
}

KernelId Kernels::begin() {
  const State start = automaton_.start(0);
  if (start < 0) return bottom;
  if (!automaton_.matches_empty()) return of(start, bottom);
  // A set of its own, which may end before it begins: what it is found by is the bottom among its items.
  return intern({{start, bottom}, {-1, bottom}});
}

// Adds the states that a rule ending here returns to, and drops states that can only end.
KernelId Kernels::intern(std::vector<Item> items) {
  std::vector<Item> closed;
  bool ends = false, returns = false;
  for (const Item& item : items) {
    if (item.state >= 0 && !automaton_.exhausted(item.state)) closed.push_back(item);
    if (item.state >= 0 && !automaton_.ends(item.state)) continue;
    const Kernel& parent = kernels_[static_cast<size_t>(item.parent)];
    closed.insert(closed.end(), parent.items.begin(), parent.items.end());
    ends |= parent.ends;
    returns |= parent.returns;
  }
  std::ranges::sort(closed);
  closed.erase(std::unique(closed.begin(), closed.end()), closed.end());
  if (closed.size() > max_items) refuse_size("ways to read the same text", max_items);
  if (closed.empty() && ends != returns) return ends ? bottom : unknown;
  if (closed.empty() && !ends) return dead;

  uint64_t hash = (ends ? 3 : 1) + (returns ? 5 : 0);
  for (const Item& item : closed) {
    const uint64_t value = (static_cast<uint64_t>(static_cast<uint32_t>(item.state)) << 32) |
                           static_cast<uint64_t>(static_cast<uint32_t>(item.parent));
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  const auto [first, last] = numbers_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Kernel& known = kernels_[static_cast<size_t>(at->second)];
    if (known.ends == ends && known.returns == returns && known.items == closed) return at->second;
  }
  const auto id = static_cast<KernelId>(kernels_.size());
  kernels_.push_back({std::move(closed), ends, returns});
  next_.resize(kernels_.size() * classes_, -1);
  numbers_.emplace(hash, id);
  return id;
}

// Calls of one rule from here are one, which returns to all of its callers. Callers come first, so that each set of
// them is whole when it is made.
const std::vector<Item>& Kernels::expanded(KernelId kernel) {
  if (kernels_[static_cast<size_t>(kernel)].is_expanded) return kernels_[static_cast<size_t>(kernel)].expanded;
  std::vector<Item> all = kernels_[static_cast<size_t>(kernel)].items;
  struct Callers {
    Rule rule;
    std::vector<Item> items;
  };
  std::map<int32_t, Callers> calls;  // by rank
  const auto add_calls = [&](const Item& item) {
    for (const auto& [rule, after] : automaton_.calls(item.state)) {
      Callers& callers = calls[automaton_.rank(rule)];
      callers.rule = rule;
      callers.items.push_back({after, item.parent});
    }
  };
  for (const Item& item : all) add_calls(item);
  while (!calls.empty()) {
    const Callers callers = std::move(calls.begin()->second);
    calls.erase(calls.begin());
    all.push_back({automaton_.start(callers.rule), intern(callers.items)});
    add_calls(Item{all.back()});
  }
  Kernel& here = kernels_[static_cast<size_t>(kernel)];
  here.expanded = std::move(all);
  here.is_expanded = true;
  return here.expanded;
}

KernelId Kernels::find_step(KernelId kernel, int byte_class) {
  std::vector<Item> reached;
  for (const Item& item : expanded(kernel)) {
    const State to = automaton_.next(item.state, byte_class);
    if (to >= 0) reached.push_back({to, item.parent});
  }
  const KernelId found = intern(std::move(reached));
  next_[static_cast<size_t>(kernel) * classes_ + static_cast<size_t>(byte_class)] = found;
  return found;
}

// A set's continuations are always older than the set.
KernelId Kernels::forget_others(KernelId kernel) {
  std::vector<bool> needed(kernels_.size(), false);
  needed[static_cast<size_t>(kernel)] = true;
  for (size_t id = kernels_.size(); id-- > 3;) {
    if (!needed[id]) continue;
    for (const Item& item : kernels_[id].items) needed[static_cast<size_t>(item.parent)] = true;
  }
  const std::vector<Kernel> before = std::move(kernels_);
  clear();
  std::vector<KernelId> renamed(before.size(), dead);
  renamed[bottom] = bottom;
  renamed[unknown] = unknown;
  for (size_t id = 3; id < before.size(); ++id) {
    if (!needed[id]) continue;
    std::vector<Item> items;
    for (const Item& item : before[id].items) items.push_back({item.state, renamed[static_cast<size_t>(item.parent)]});
    if (before[id].ends) items.push_back({-1, bottom});
    if (before[id].returns) items.push_back({-1, unknown});
    renamed[id] = intern(std::move(items));
  }
  return renamed[static_cast<size_t>(kernel)];
}

}  // namespace longhand::grammar
