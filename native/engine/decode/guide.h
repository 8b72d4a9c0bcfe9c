// Applies a grammar to an answer. Thinking is not restricted, except that it cannot end the answer.
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
  std::shared_ptr<grammar::Grammar> grammar;  // null: no restriction
  Begin begin = Begin::answer;
  std::vector<int32_t> open, close;  // tokens that open and close the thinking
};

class Guide {
 public:
  // `stops`: tokens that end the answer where the grammar allows it.
  Guide(const GuideOptions& options, std::vector<int32_t> stops);

  // A mask of the tokens allowed next; valid until the next call.
  grammar::Mask& mask();
  // Whether the start of an answer matches that is in the same token as the end of the thinking; a mask cannot express
  // that.
  bool admits(int32_t token);
  // Returns false and changes nothing if the token does not match.
  bool accept(int32_t token);
  // Whether only the end of the answer can follow.
  bool complete() { return state_ == State::bound && matcher_.complete(); }
  // Tokens that the grammar determines. The last token of such a text is left to the model, which may choose a longer
  // token that continues past it.
  std::vector<int32_t> forced();

 private:
  enum class State : uint8_t { either, thinking, before, bound };
  bool think(const std::string& text);
  // Adds text to the thinking. Returns what follows its end, null if the thinking continues.
  std::optional<std::string> answer_in(const std::string& text) const;

  grammar::Matcher matcher_;
  const grammar::Vocabulary& vocabulary_;
  std::vector<int32_t> stops_;
  std::string open_, close_;
  State state_;
  std::string tail_;  // the last bytes of the thinking, in which a closing marker may have begun
  int blanks_ = 0;
  grammar::Mask mask_;
};

}  // namespace longhand
