// An answer that is bound by a grammar. Its thinking is not: it only may not end the answer.
//
//   either ──opens thinking──▶ thinking ──closed──▶ before ──text──▶ bound
//     └───────────text────────────────────────────────────────────────▲
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "grammar/grammar.h"

namespace longhand {

struct GuideOptions {
  enum class Begin : uint8_t { answer, thinking, either };
  std::shared_ptr<grammar::Grammar> grammar;  // null: the answer is free
  Begin begin = Begin::answer;
  std::vector<int32_t> open, close;  // what opens and closes the thinking
};

class Guide {
 public:
  // Tokens `stops` end the answer, where the grammar lets it end.
  Guide(const GuideOptions& options, std::vector<int32_t> stops);

  // Tokens that may come next, until the next call.
  grammar::Mask& mask();
  // What a mask cannot tell: whether the answer fits that a token begins which closes the thinking too.
  bool admits(int32_t token);
  // False where it does not fit; then nothing has happened.
  bool accept(int32_t token);
  // Nothing but the end can follow.
  bool complete() { return state_ == State::bound && matcher_.complete(); }
  // Tokens that come next whatever the model would say. The last one of such a text is left to the model, which may
  // know a token that goes on behind it.
  std::vector<int32_t> forced();

 private:
  enum class State : uint8_t { either, thinking, before, bound };
  bool think(const std::string& text);
  // What stands behind the end of the thinking once this text has come; null: it goes on.
  std::optional<std::string> answer_in(const std::string& text) const;

  grammar::Matcher matcher_;
  const grammar::Vocabulary& vocabulary_;
  std::vector<int32_t> stops_;
  std::string open_, close_;
  State state_;
  std::string tail_;  // the end of the thinking, in which it may be closed
  int blanks_ = 0;
  grammar::Mask mask_;
};

}  // namespace longhand
