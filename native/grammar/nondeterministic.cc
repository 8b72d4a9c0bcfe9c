#include "grammar/nondeterministic.h"

#include <algorithm>

#include "grammar/limits.h"

namespace longhand::grammar {

Nondeterministic::Nondeterministic(const Syntax& syntax) {
  for (const Syntax::Named& rule : syntax.rules()) {
    if (rule.body < 0) throw std::invalid_argument("[grammar] there is no rule \"" + rule.name + "\"");
    const Piece piece = build(syntax, rule.body, 0);
    begins_.push_back(piece.begin);
    ends_.push_back(piece.end);
  }
  nullable_.assign(begins_.size(), false);
  seen_.assign(nodes_.size(), 0);
  find_nullable();
}

int32_t Nondeterministic::add() {
  if (nodes_.size() >= 4 * max_states) refuse_size("states", max_states);
  nodes_.emplace_back();
  return static_cast<int32_t>(nodes_.size() - 1);
}

int32_t Nondeterministic::set_number(const ByteSet& set) {
  const auto [at, is_new] = set_numbers_.try_emplace(set.to_string(), static_cast<int32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return at->second;
}

Nondeterministic::Piece Nondeterministic::build(const Syntax& syntax, Expr expr, int depth) {
  if (depth > 4 * max_depth) refuse_size("groups within groups", max_depth);
  const Syntax::Node& node = syntax.node(expr);
  using Kind = Syntax::Node::Kind;
  if (node.kind == Kind::repeat) return repeated(syntax, node, depth);
  Piece piece{add(), 0};
  if (node.kind == Kind::sequence) {
    piece.end = piece.begin;
    for (const Expr part : node.parts) {
      const Piece next = build(syntax, part, depth + 1);
      nodes_[static_cast<size_t>(piece.end)].to = next.begin;
      piece.end = next.end;
    }
    return piece;
  }
  piece.end = add();
  if (node.kind == Kind::choice) {
    int32_t fork = piece.begin;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      const Piece one = build(syntax, node.parts[i], depth + 1);
      nodes_[static_cast<size_t>(one.end)].to = piece.end;
      nodes_[static_cast<size_t>(fork)].to = one.begin;
      if (i + 1 == node.parts.size()) break;
      const int32_t more = add();
      nodes_[static_cast<size_t>(fork)].other = more;
      fork = more;
    }
    return piece;
  }
  if (node.kind == Kind::bytes) nodes_[static_cast<size_t>(piece.begin)].set = set_number(node.set);
  else nodes_[static_cast<size_t>(piece.begin)].rule = node.rule;
  nodes_[static_cast<size_t>(piece.begin)].to = piece.end;
  return piece;
}

Nondeterministic::Piece Nondeterministic::repeated(const Syntax& syntax, const Syntax::Node& node, int depth) {
  const int32_t begin = add(), end = add();
  int32_t at = begin;
  for (int32_t i = 0; i < node.least; ++i) {
    const Piece one = build(syntax, node.parts.front(), depth + 1);
    nodes_[static_cast<size_t>(at)].to = one.begin;
    at = one.end;
  }
  if (node.most == unbounded) {
    const Piece loop = build(syntax, node.parts.front(), depth + 1);
    const int32_t fork = add();
    nodes_[static_cast<size_t>(at)].to = fork;
    nodes_[static_cast<size_t>(loop.end)].to = fork;
    nodes_[static_cast<size_t>(fork)].to = loop.begin;
    nodes_[static_cast<size_t>(fork)].other = end;
    return {begin, end};
  }
  for (int32_t i = node.least; i < node.most; ++i) {
    const Piece one = build(syntax, node.parts.front(), depth + 1);
    const int32_t fork = add();
    nodes_[static_cast<size_t>(at)].to = fork;
    nodes_[static_cast<size_t>(fork)].to = one.begin;
    nodes_[static_cast<size_t>(fork)].other = end;
    at = one.end;
  }
  nodes_[static_cast<size_t>(at)].to = end;
  return {begin, end};
}

void Nondeterministic::find_nullable() {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t rule = 0; rule < begins_.size(); ++rule) {
      if (nullable_[rule] || !std::ranges::binary_search(closure({begins_[rule]}), ends_[rule])) continue;
      nullable_[rule] = changed = true;
    }
  }
}

std::vector<int32_t> Nondeterministic::closure(std::vector<int32_t> states) const {
  std::vector<int32_t> out;
  ++round_;
  while (!states.empty()) {
    const int32_t state = states.back();
    states.pop_back();
    if (state < 0 || seen_[static_cast<size_t>(state)] == round_) continue;
    seen_[static_cast<size_t>(state)] = round_;
    const Node& node = nodes_[static_cast<size_t>(state)];
    const bool acts = node.set >= 0 || node.rule >= 0;
    if (acts || node.to < 0) out.push_back(state);
    if (!acts || (node.rule >= 0 && nullable_[static_cast<size_t>(node.rule)])) {
      states.push_back(node.to);
      states.push_back(node.other);
    }
  }
  std::ranges::sort(out);
  return out;
}

void Nondeterministic::read(int32_t from, int byte, std::vector<int32_t>& reached) const {
  const Node& node = nodes_[static_cast<size_t>(from)];
  if (node.set >= 0 && sets_[static_cast<size_t>(node.set)].test(static_cast<size_t>(byte))) reached.push_back(node.to);
}

void Nondeterministic::called(int32_t from, std::map<Rule, std::vector<int32_t>>& calls) const {
  const Node& node = nodes_[static_cast<size_t>(from)];
  if (node.rule >= 0) calls[node.rule].push_back(node.to);
}

}  // namespace longhand::grammar
