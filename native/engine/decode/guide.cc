#include "engine/decode/guide.h"

#include <algorithm>

namespace longhand {

namespace {

// The most blank tokens allowed between the thinking and the answer.
constexpr int most_blanks = 4;
// How many bytes ahead to look for text that the grammar determines.
constexpr size_t most_forced = 256;

std::string joined(const grammar::Vocabulary& vocabulary, std::span<const int32_t> tokens) {
  std::string out;
  for (const int32_t token : tokens) out += vocabulary.text(token);
  return out;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

void allow(grammar::Mask& mask, int32_t token) { mask[static_cast<size_t>(token) / 32] |= 1u << (token % 32); }
void forbid(grammar::Mask& mask, int32_t token) { mask[static_cast<size_t>(token) / 32] &= ~(1u << (token % 32)); }

}  // namespace

Guide::Guide(const GuideOptions& options, std::vector<int32_t> stops)
    : matcher_(options.grammar),
      vocabulary_(options.grammar->vocabulary()),
      stops_(std::move(stops)),
      open_(joined(vocabulary_, options.open)),
      close_(joined(vocabulary_, options.close)),
      state_(options.begin == GuideOptions::Begin::answer     ? State::bound
             : options.begin == GuideOptions::Begin::thinking ? State::thinking
                                                              : State::either) {}

grammar::Mask& Guide::mask() {
  if (state_ == State::thinking) {
    mask_.assign(vocabulary_.words(), ~0u);
    for (const int32_t token : stops_) forbid(mask_, token);
    return mask_;
  }
  mask_ = matcher_.mask();
  if (matcher_.may_end())
    for (const int32_t token : stops_) allow(mask_, token);
  if (state_ == State::before && blanks_ < most_blanks)
    for (const int32_t token : vocabulary_.blanks()) allow(mask_, token);
  if (state_ == State::either)
    for (const int32_t token : vocabulary_.named(open_)) allow(mask_, token);
  return mask_;
}

bool Guide::accept(int32_t token) {
  const std::string& text = vocabulary_.text(token);
  if (state_ == State::thinking) return think(text);
  if (matcher_.accept(text)) {
    state_ = State::bound;
    return true;
  }
  if (state_ == State::either && text == open_) {
    state_ = State::thinking;
    return true;
  }
  return state_ == State::before && is_blank(text) && ++blanks_ <= most_blanks;
}

std::optional<std::string> Guide::answer_in(const std::string& text) const {
  const std::string tail = tail_ + text;
  const size_t at = close_.empty() ? tail.npos : tail.find(close_);
  if (at == tail.npos) return std::nullopt;
  const size_t first = tail.find_first_not_of(" \t\r\n", at + close_.size());
  return first == tail.npos ? "" : tail.substr(first);
}

bool Guide::admits(int32_t token) {
  if (state_ != State::thinking) return true;
  const std::optional<std::string> answer = answer_in(vocabulary_.text(token));
  return !answer || answer->empty() || matcher_.allows(*answer);
}

bool Guide::think(const std::string& text) {
  const std::optional<std::string> answer = answer_in(text);
  if (answer && !answer->empty() && !matcher_.accept(*answer)) return false;
  if (answer) state_ = answer->empty() ? State::before : State::bound;
  tail_ += text;
  if (tail_.size() > close_.size()) tail_.erase(0, tail_.size() - close_.size());
  return true;
}

std::vector<int32_t> Guide::forced() {
  if (state_ != State::bound) return {};
  const std::string text = matcher_.forced(most_forced);
  std::vector<int32_t> tokens = text.empty() ? std::vector<int32_t>{} : vocabulary_.encode(text);
  if (!tokens.empty()) tokens.pop_back();
  return tokens;
}

}  // namespace longhand
