#include <map>
#include <optional>
#include <stdexcept>

#include "formats/utf8.h"
#include "grammar/limits.h"
#include "grammar/read.h"
#include "grammar/regex.h"

namespace longhand::grammar {

namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class GbnfReader {
 public:
  explicit GbnfReader(std::string_view text) : text_(text) {}

  Syntax whole() {
    if (text_.size() > max_text) refuse_size("bytes", max_text);
    if (const size_t valid = valid_utf8_prefix(text_); valid != text_.size()) {
      at_ = valid;
      fail("a byte that is not UTF-8");
    }
    rule_of("root");
    for (blank(true); !ended(); blank(true)) {
      const Rule rule = rule_of(name());
      blank(true);
      if (!take("::=")) fail("no \"::=\" behind the name of a rule");
      if (syntax_.rules()[static_cast<size_t>(rule)].body >= 0) fail("a rule that is there already");
      syntax_.define(rule, alternatives(0));
      if (!ended() && peek() != '\n' && peek() != '\r') fail("something behind the end of a rule");
    }
    return std::move(syntax_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    size_t line = 1;
    for (size_t i = 0; i < std::min(at_, text_.size()); ++i) line += text_[i] == '\n';
    throw std::invalid_argument("[gbnf] in line " + std::to_string(line) + " of the grammar: " + what);
  }
  bool ended() const { return at_ >= text_.size(); }
  char peek() const { return ended() ? '\0' : text_[at_]; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void blank(bool lines) {
    while (!ended()) {
      if (peek() == '#')
        while (!ended() && peek() != '\n' && peek() != '\r') ++at_;
      else if (peek() == ' ' || peek() == '\t' || (lines && (peek() == '\n' || peek() == '\r'))) ++at_;
      else break;
    }
  }
  std::string name() {
    const size_t begin = at_;
    while (!ended() && is_name(peek())) ++at_;
    if (at_ == begin) fail("no name of a rule");
    return std::string(text_.substr(begin, at_ - begin));
  }
  Rule rule_of(const std::string& named) {
    const auto [at, is_new] = rules_.try_emplace(named, -1);
    if (is_new) at->second = syntax_.declare(named);
    return at->second;
  }

  Expr alternatives(int depth) {
    if (depth > max_depth) fail("groups within more than " + std::to_string(max_depth) + " groups");
    std::vector<Expr> choices;
    do {
      // A rule goes on in the next line behind a "|" and within brackets.
      blank(true);
      choices.push_back(sequence(depth));
    } while (take("|"));
    return syntax_.choice(std::move(choices));
  }

  Expr sequence(int depth) {
    std::vector<Expr> parts;
    for (;;) {
      blank(depth > 0);
      if (peek() == '\n' || peek() == '\r') {
        const size_t begin = at_;
        blank(true);
        if (peek() != '|') at_ = begin;
        break;
      }
      if (ended() || peek() == '|' || peek() == ')') break;
      parts.push_back(counted(atom(depth)));
    }
    return syntax_.sequence(std::move(parts));
  }

  Expr atom(int depth) {
    if (take("\"")) return quoted();
    if (take("[")) return syntax_.characters(brackets());
    if (take(".")) return syntax_.characters(complement({}));
    if (take("(")) {
      const Expr inner = alternatives(depth + 1);
      blank(true);
      if (!take(")")) fail("a group without \")\"");
      return inner;
    }
    if (!is_name(peek())) fail(std::string("a \"") + peek() + "\" where part of a rule was expected");
    return syntax_.call(rule_of(name()));
  }

  Expr counted(Expr one) {
    blank(false);
    if (take("*")) return syntax_.repeat(one, 0, unbounded);
    if (take("+")) return syntax_.repeat(one, 1, unbounded);
    if (take("?")) return syntax_.optional(one);
    if (!take("{")) return one;
    const std::optional<int32_t> from = number();
    int32_t least = from.value_or(0), most = least;
    if (take(",")) most = number().value_or(unbounded);
    else if (!from) fail("a count without a number");
    if (!take("}")) fail("a count without \"}\"");
    if (most != unbounded && most < least) fail("a count from more to less");
    return syntax_.repeat(one, least, most);
  }

  std::optional<int32_t> number() {
    blank(false);
    if (peek() < '0' || peek() > '9') return std::nullopt;
    int32_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + (text_[at_++] - '0');
      if (value > max_count) fail("a count above " + std::to_string(max_count));
    }
    blank(false);
    return value;
  }

  Expr quoted() {
    std::vector<Expr> parts;
    while (!take("\"")) {
      if (ended() || peek() == '\n') fail("a text without its closing \"");
      const uint32_t code = character();
      parts.push_back(syntax_.characters({{code, code}}));
    }
    return syntax_.sequence(std::move(parts));
  }

  CodeSet brackets() {
    const bool negated = take("^");
    CodeSet set;
    while (!take("]")) {
      if (ended()) fail("a class without \"]\"");
      const uint32_t first = character();
      uint32_t last = first;
      if (peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        last = character();
        if (last < first) fail("a range of characters that is none");
      }
      set.push_back({first, last});
    }
    set = normalised(std::move(set));
    return negated ? complement(set) : set;
  }

  uint32_t character() {
    if (!take("\\")) return next_code(text_, at_);
    const char c = ended() ? '\0' : text_[at_++];
    if (c == 'n') return '\n';
    if (c == 'r') return '\r';
    if (c == 't') return '\t';
    if (c == 'x') return hex(2);
    if (c == 'u') return hex(4);
    if (c == 'U') return hex(8);
    if (c == '\\' || c == '"' || c == '[' || c == ']' || c == '-' || c == '^') return static_cast<uint32_t>(c);
    fail("an escape that is not known here");
  }

  uint32_t hex(int count) {
    uint64_t code = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
      if (digit < 0) fail("an escape without its digits");
      code = code * 16 + static_cast<uint64_t>(digit);
    }
    if (code > 0x10ffff) fail("a character above U+10FFFF");
    return static_cast<uint32_t>(code);
  }

  std::string_view text_;
  size_t at_ = 0;
  Syntax syntax_;
  std::map<std::string, Rule> rules_;
};

}  // namespace

Syntax read_gbnf(std::string_view text) { return GbnfReader(text).whole(); }

}  // namespace longhand::grammar
