// Thompson's automata of all rules, before they are made deterministic.
#pragma once

#include <map>
#include <vector>

#include "grammar/syntax.h"

namespace longhand::grammar {

class Nondeterministic {
 public:
  explicit Nondeterministic(const Syntax& syntax);

  int32_t begin(Rule rule) const { return begins_[static_cast<size_t>(rule)]; }
  int32_t end(Rule rule) const { return ends_[static_cast<size_t>(rule)]; }
  bool nullable(Rule rule) const { return nullable_[static_cast<size_t>(rule)]; }
  // Every set of bytes on an edge, once.
  const std::vector<ByteSet>& sets() const { return sets_; }

  // The epsilon closure, sorted, without states that have only epsilon edges.
  std::vector<int32_t> closure(std::vector<int32_t> states) const;
  void read(int32_t from, int byte, std::vector<int32_t>& reached) const;
  void called(int32_t from, std::map<Rule, std::vector<int32_t>>& calls) const;

 private:
  // At most two epsilon edges, or one edge that reads or calls.
  struct Node {
    int32_t to = -1, other = -1;
    int32_t set = -1;
    Rule rule = -1;
  };
  struct Piece {
    int32_t begin, end;
  };
  int32_t add();
  Piece build(const Syntax& syntax, Expr expr, int depth);
  Piece repeated(const Syntax& syntax, const Syntax::Node& node, int depth);
  int32_t set_number(const ByteSet& set);
  void find_nullable();

  std::vector<Node> nodes_;
  std::vector<ByteSet> sets_;
  std::map<std::string, int32_t> set_numbers_;
  std::vector<int32_t> begins_, ends_;
  std::vector<bool> nullable_;
  mutable std::vector<uint32_t> seen_;
  mutable uint32_t round_ = 0;
};

}  // namespace longhand::grammar
