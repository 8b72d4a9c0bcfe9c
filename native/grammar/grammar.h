// A grammar for one vocabulary, and a matcher for one text.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "grammar/kernels.h"
#include "grammar/vocabulary.h"

namespace longhand::grammar {

using Mask = std::vector<uint32_t>;  // a bit a token

class Grammar {
 public:
  Grammar(const Syntax& syntax, std::shared_ptr<const Vocabulary> vocabulary);
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  const Automaton& automaton() const { return automaton_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Tokens allowed in a state whichever rule called its own, and the vocabulary's nodes after which that depends on the
  // caller. Computed once; any thread.
  struct Local {
    Mask mask;
    std::vector<int32_t> returns;
  };
  std::shared_ptr<const Local> local(State state);

 private:
  const std::shared_ptr<const Vocabulary> vocabulary_;
  const Automaton automaton_;
  std::mutex lock_;  // guards what follows
  Kernels kernels_;
  std::vector<std::shared_ptr<const Local>> locals_;
  size_t mask_bytes_ = 0;  // of `locals_`
};

// The position of one text in the grammar. One thread.
class Matcher {
 public:
  explicit Matcher(std::shared_ptr<Grammar> grammar);

  // Tokens that may come next. Valid until the next call of any kind.
  const Mask& mask();
  bool allows(int32_t token) { return allows(grammar_->vocabulary().text(token)); }
  bool allows(std::string_view text) { return !text.empty() && after(text) != dead; }
  // False if the text does not fit; the position is then unchanged.
  bool accept(std::string_view text);
  bool may_end() const { return kernels_.ends(here_); }
  // Nothing can follow.
  bool complete() { return may_end() && !kernels_.goes_on(here_); }
  // The only possible continuation, as far as it is unique, at most `most` bytes.
  std::string forced(size_t most);
  const Grammar& grammar() const { return *grammar_; }

 private:
  KernelId after(std::string_view text);

  std::shared_ptr<Grammar> grammar_;
  Kernels kernels_;
  KernelId here_;
  struct CachedMask {
    KernelId kernel;
    Mask mask;
  };
  std::list<CachedMask> masks_;  // most recently used first
};

}  // namespace longhand::grammar
