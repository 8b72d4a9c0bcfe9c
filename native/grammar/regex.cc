#include "grammar/regex.h"

#include <optional>
#include <stdexcept>

#include "formats/utf8.h"
#include "grammar/limits.h"
#include "grammar/read.h"

namespace longhand::grammar {

namespace {

const CodeSet digits{{'0', '9'}};
const CodeSet word{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CodeSet space{{9, 13},          {32, 32},         {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
const CodeSet line_ends{{10, 10}, {13, 13}, {0x2028, 0x2029}};

class RegexReader {
 public:
  RegexReader(Syntax& syntax, std::string_view pattern, Writing writing, bool searched, const std::string& where)
      : syntax_(syntax), text_(pattern), writing_(writing), searched_(searched), where_(where) {}

  Expr whole() {
    if (text_.size() > max_text) refuse_size("bytes", max_text);
    if (const size_t valid = valid_utf8_prefix(text_); valid != text_.size()) {
      at_ = valid;
      fail("a byte that is not UTF-8");
    }
    std::vector<Expr> choices{branch()};
    while (take('|')) choices.push_back(branch());
    if (!ended()) fail("a \")\" that closes nothing");
    return syntax_.choice(std::move(choices));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(where_ + " at character " + std::to_string(at_ + 1) +
                                " of the regular expression: " + what);
  }
  bool ended() const { return at_ >= text_.size(); }
  char peek() const { return ended() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word_) {
    if (!text_.substr(at_).starts_with(word_)) return false;
    at_ += word_.size();
    return true;
  }

  Expr anything() { return syntax_.repeat(written(syntax_, complement({}), writing_), 0, unbounded); }

  // At the outermost level, where ^ and $ mean the ends of the text.
  Expr branch() {
    const bool bound = take('^');
    std::vector<Expr> parts;
    if (searched_ && !bound) parts.push_back(anything());
    bool closed = false;
    while (!ended() && peek() != '|' && peek() != ')') {
      if (take('$')) {
        if (!ended() && peek() != '|') fail("something after \"$\", expected the end");
        closed = true;
        break;
      }
      parts.push_back(term(0));
    }
    if (searched_ && !closed) parts.push_back(anything());
    return syntax_.sequence(std::move(parts));
  }

  Expr alternatives(int depth) {
    if (depth > max_depth) fail("groups within more than " + std::to_string(max_depth) + " groups");
    std::vector<Expr> choices;
    do {
      std::vector<Expr> parts;
      while (!ended() && peek() != '|' && peek() != ')') parts.push_back(term(depth));
      choices.push_back(syntax_.sequence(std::move(parts)));
    } while (take('|'));
    return syntax_.choice(std::move(choices));
  }

  Expr term(int depth) {
    const Expr one = atom(depth);
    int32_t least = 1, most = 1;
    if (take('*')) least = 0, most = unbounded;
    else if (take('+')) most = unbounded;
    else if (take('?')) least = 0;
    else if (peek() != '{' || !counts(least, most)) return one;
    take('?');  // lazy: the same texts
    if (peek() == '*' || peek() == '+' || peek() == '?') fail("a count of a count");
    return syntax_.repeat(one, least, most);
  }

  bool counts(int32_t& least, int32_t& most) {
    const size_t begin = at_++;
    const std::optional<int32_t> from = number();
    if (!from) return at_ = begin, fail("a \"{\" without a count; write \"\\{\" for the character itself"), false;
    least = most = *from;
    if (take(',')) most = number().value_or(unbounded);
    if (!take('}')) fail("a count without \"}\"");
    if (most != unbounded && most < least) fail("a count from more to less");
    return true;
  }

  std::optional<int32_t> number() {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    int32_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + (text_[at_++] - '0');
      if (value > max_count) fail("a count above " + std::to_string(max_count));
    }
    return value;
  }

  Expr atom(int depth) {
    if (take('(')) return group(depth);
    if (take('[')) return written(syntax_, brackets(), writing_);
    if (take('.')) return written(syntax_, complement(line_ends), writing_);
    if (take('\\')) return written(syntax_, escape(false), writing_);
    if (peek() == '^' || peek() == '$') fail("\"^\" or \"$\" inside; they are only supported at the ends");
    if (peek() == '*' || peek() == '+' || peek() == '?') fail("a count of nothing");
    const uint32_t code = next_code(text_, at_);
    return written(syntax_, {{code, code}}, writing_);
  }

  Expr group(int depth) {
    if (take("?=") || take("?!") || take("?<=") || take("?<!")) fail("lookahead and lookbehind are not supported");
    if (take("?<")) {
      while (!ended() && peek() != '>') ++at_;
      if (!take('>')) fail("a name without \">\"");
    } else if (!take("?:") && peek() == '?') fail("a group of an unknown kind");
    const Expr inner = alternatives(depth + 1);
    if (!take(')')) fail("a group without \")\"");
    return inner;
  }

  CodeSet brackets() {
    const bool negated = take('^');
    CodeSet set;
    while (!take(']')) {
      if (ended()) fail("a class without \"]\"");
      const CodeSet first = one_of_class();
      const bool is_range = peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      if (!is_range) {
        set.insert(set.end(), first.begin(), first.end());
        continue;
      }
      ++at_;
      const CodeSet last = one_of_class();
      if (first.size() != 1 || last.size() != 1 || first[0].first != first[0].last || last[0].first != last[0].last ||
          last[0].last < first[0].first)
        fail("a range of characters that is none");
      set.push_back({first[0].first, last[0].last});
    }
    set = normalised(std::move(set));
    return negated ? complement(set) : set;
  }

  CodeSet one_of_class() {
    if (take('\\')) return escape(true);
    const uint32_t code = next_code(text_, at_);
    return {{code, code}};
  }

  CodeSet escape(bool in_class) {
    if (ended()) fail("a \"\\\" at its end");
    const char c = text_[at_++];
    const auto one = [](uint32_t code) { return CodeSet{{code, code}}; };
    switch (c) {
      case 'd': return digits;
      case 'D': return complement(digits);
      case 'w': return word;
      case 'W': return complement(word);
      case 's': return space;
      case 'S': return complement(space);
      case 't': return one('\t');
      case 'n': return one('\n');
      case 'r': return one('\r');
      case 'f': return one('\f');
      case 'v': return one('\v');
      case '0': return one(0);
      case 'x': return one(hex(2));
      case 'u': return one(take('{') ? braced() : hex(4));
      case 'b':
        if (in_class) return one(8);
        fail("\"\\b\" is not supported; use a character class");
      default: break;
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
      fail(std::string("\"\\") + c + "\", which is not supported");
    --at_;
    return one(next_code(text_, at_));
  }

  uint32_t hex(int count) {
    uint32_t code = 0;
    for (int i = 0; i < count; ++i) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
      if (digit < 0) fail("an escape without its digits");
      code = code * 16 + static_cast<uint32_t>(digit);
      ++at_;
    }
    return code;
  }

  uint32_t braced() {
    uint32_t code = 0;
    while (!ended() && peek() != '}') code = std::min<uint32_t>(code * 16 + hex(1), 0x110000);
    if (!take('}') || code > 0x10ffff) fail("a character above U+10FFFF");
    return code;
  }

  Syntax& syntax_;
  std::string_view text_;
  Writing writing_;
  bool searched_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace

uint32_t next_code(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  uint32_t code = lead & (0x3fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i)
    code = (code << 6) | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return code;
}

Expr written(Syntax& syntax, const CodeSet& set, Writing writing) {
  if (writing == Writing::plain) return syntax.characters(set);
  // RFC 8259, section 7: control characters, the quotation mark and the backslash are escaped.
  const CodeSet escaped{{0, 31}, {'"', '"'}, {'\\', '\\'}};
  std::vector<Expr> choices{syntax.characters(intersection(normalised(set), complement(escaped)))};
  for (const CodeRange& range : intersection(normalised(set), escaped)) {
    for (uint32_t code = range.first; code <= range.last; ++code) {
      constexpr std::string_view names = "btn\vfr";
      const bool named = code >= 8 && code <= 13 && code != 11;
      constexpr std::string_view hex = "0123456789abcdef";
      if (code >= 32) choices.push_back(syntax.literal(std::string{'\\', static_cast<char>(code)}));
      else if (named) choices.push_back(syntax.literal(std::string{'\\', names[code - 8]}));
      else choices.push_back(syntax.literal(std::string{'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]}));
    }
  }
  return syntax.choice(std::move(choices));
}

Expr regex(Syntax& syntax, std::string_view pattern, Writing writing, bool searched, const std::string& where) {
  return RegexReader(syntax, pattern, writing, searched, where).whole();
}

Syntax read_regex(std::string_view pattern) {
  Syntax syntax;
  const Rule root = syntax.declare("root");
  syntax.define(root, regex(syntax, pattern, Writing::plain, false, "[regex]"));
  return syntax;
}

}  // namespace longhand::grammar
