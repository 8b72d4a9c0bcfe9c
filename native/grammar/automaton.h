// The rules as deterministic automata over classes of bytes, whose edges may also be calls.
#pragma once

#include <array>
#include <vector>

#include "grammar/syntax.h"

namespace longhand::grammar {

using State = int32_t;

class Automaton {
 public:
  // Throws std::invalid_argument: left recursion, a rule without a body, too large, nothing matches.
  explicit Automaton(const Syntax& syntax);

  struct Call {
    Rule rule;
    State after;
  };
  // -1: no such edge.
  State next(State state, int byte_class) const {
    return next_[static_cast<size_t>(state) * static_cast<size_t>(classes_) + static_cast<size_t>(byte_class)];
  }
  bool ends(State state) const { return ends_[static_cast<size_t>(state)]; }
  const std::vector<Call>& calls(State state) const { return calls_[static_cast<size_t>(state)]; }
  // No edge leads on from here: the rule can only end.
  bool exhausted(State state) const { return exhausted_[static_cast<size_t>(state)]; }
  // The start state of a rule that reads at least one byte; -1: it reads none.
  State start(Rule rule) const { return starts_[static_cast<size_t>(rule)]; }
  // Rules in an order in which each stands before those it may begin with.
  int32_t rank(Rule rule) const { return ranks_[static_cast<size_t>(rule)]; }
  bool matches_empty() const { return matches_empty_; }

  int classes() const { return classes_; }
  int class_of(unsigned char byte) const { return class_of_[byte]; }
  // The byte of a class of one; -1 for larger ones.
  int only_byte(int byte_class) const { return only_byte_[static_cast<size_t>(byte_class)]; }
  size_t states() const { return ends_.size(); }

 private:
  friend class Compiler;
  std::array<uint8_t, 256> class_of_{};
  std::vector<int> only_byte_;
  int classes_ = 0;
  bool matches_empty_ = false;
  std::vector<State> next_;
  std::vector<bool> ends_, exhausted_;
  std::vector<std::vector<Call>> calls_;
  std::vector<State> starts_;
  std::vector<int32_t> ranks_;
};

}  // namespace longhand::grammar
