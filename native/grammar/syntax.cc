#include "grammar/syntax.h"

#include <algorithm>

#include "grammar/limits.h"

namespace longhand::grammar {

namespace {

constexpr uint32_t last_code = 0x10ffff, first_surrogate = 0xd800, last_surrogate = 0xdfff;

std::string utf8(uint32_t code) {
  std::string out;
  if (code < 0x80) return {static_cast<char>(code)};
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  out.push_back(static_cast<char>(lead[more] | (code >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) out.push_back(static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f)));
  return out;
}

// Ranges whose ends have the same number of bytes, and continuation bytes that are all free or all fixed: each is a
// product of byte ranges.
void split(uint32_t first, uint32_t last, std::vector<CodeRange>& out) {
  for (const uint32_t end : {0x7fu, 0x7ffu, 0xffffu}) {
    if (first <= end && last > end) {
      split(first, end, out);
      split(end + 1, last, out);
      return;
    }
  }
  const int more = last < 0x80 ? 0 : last < 0x800 ? 1 : last < 0x10000 ? 2 : 3;
  for (int i = 1; i <= more; ++i) {
    const uint32_t mask = (1u << (6 * i)) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      split(first, first | mask, out);
      split((first | mask) + 1, last, out);
      return;
    }
    if ((last & mask) != mask) {
      split(first, (last & ~mask) - 1, out);
      split(last & ~mask, last, out);
      return;
    }
  }
  out.push_back({first, last});
}

}  // namespace

std::string control_text(int32_t token) {
  const auto byte = [&](int shift) { return static_cast<char>((token >> shift) & 0xff); };
  return {static_cast<char>(control_mark), byte(16), byte(8), byte(0)};
}

CodeSet normalised(CodeSet set) {
  std::ranges::sort(set, {}, &CodeRange::first);
  CodeSet out;
  for (const CodeRange& range : set) {
    if (!out.empty() && range.first <= out.back().last + 1) out.back().last = std::max(out.back().last, range.last);
    else out.push_back(range);
  }
  return out;
}

CodeSet complement(const CodeSet& set) {
  CodeSet out;
  uint32_t next = 0;
  CodeSet taken = set;
  taken.push_back({first_surrogate, last_surrogate});
  for (const CodeRange& range : normalised(std::move(taken))) {
    if (range.first > next) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= last_code) out.push_back({next, last_code});
  return out;
}

CodeSet intersection(const CodeSet& a, const CodeSet& b) {
  CodeSet out;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const uint32_t first = std::max(a[i].first, b[k].first), last = std::min(a[i].last, b[k].last);
    if (first <= last) out.push_back({first, last});
    if (a[i].last < b[k].last) ++i;
    else ++k;
  }
  return out;
}

Expr Syntax::push(Node node) {
  if (nodes_.size() >= max_nodes) refuse_size("parts", max_nodes);
  nodes_.push_back(std::move(node));
  return static_cast<Expr>(nodes_.size() - 1);
}

Expr Syntax::bytes(const ByteSet& set) { return push({.kind = Node::Kind::bytes, .set = set}); }

Expr Syntax::range(unsigned char first, unsigned char last) {
  ByteSet set;
  for (int byte = first; byte <= last; ++byte) set.set(static_cast<size_t>(byte));
  return bytes(set);
}

Expr Syntax::literal(std::string_view text) {
  std::vector<Expr> parts;
  for (const char c : text) parts.push_back(range(static_cast<unsigned char>(c), static_cast<unsigned char>(c)));
  return parts.size() == 1 ? parts.front() : sequence(std::move(parts));
}

Expr Syntax::sequence(std::vector<Expr> parts) {
  if (parts.size() == 1) return parts.front();
  return push({.kind = Node::Kind::sequence, .parts = std::move(parts)});
}

Expr Syntax::choice(std::vector<Expr> parts) {
  if (parts.size() == 1) return parts.front();
  return push({.kind = Node::Kind::choice, .parts = std::move(parts)});
}

Expr Syntax::repeat(Expr part, int32_t least, int32_t most) {
  return push({.kind = Node::Kind::repeat, .parts = {part}, .least = least, .most = most});
}

Expr Syntax::characters(const CodeSet& set) {
  std::vector<CodeRange> products;
  for (const CodeRange& range : intersection(normalised(set), complement({}))) split(range.first, range.last, products);
  ByteSet single;
  std::vector<Expr> choices;
  for (const CodeRange& range : products) {
    const std::string first = utf8(range.first), last = utf8(range.last);
    if (first.size() == 1) {
      for (uint32_t code = range.first; code <= range.last; ++code) single.set(code);
      continue;
    }
    std::vector<Expr> parts;
    for (size_t i = 0; i < first.size(); ++i)
      parts.push_back(this->range(static_cast<unsigned char>(first[i]), static_cast<unsigned char>(last[i])));
    choices.push_back(sequence(std::move(parts)));
  }
  if (single.any()) choices.push_back(bytes(single));
  return choice(std::move(choices));
}

Expr Syntax::call(Rule rule) { return push({.kind = Node::Kind::call, .rule = rule}); }

Rule Syntax::declare(std::string name) {
  if (rules_.size() >= max_rules) refuse_size("rules", max_rules);
  rules_.push_back({std::move(name)});
  return static_cast<Rule>(rules_.size() - 1);
}

Rule Syntax::add(std::string name, Expr body) {
  const Rule rule = declare(std::move(name));
  define(rule, body);
  return rule;
}

}  // namespace longhand::grammar
