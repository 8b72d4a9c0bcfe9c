// A strict JSON reader (RFC 8259): no comments, no trailing commas, no NaN or Infinity, no lone surrogates.
#include "formats/json.h"

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <unordered_set>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

constexpr int max_depth = 64;
// A value takes 40 bytes and twice that while its list grows: a hostile header of a hundred megabytes must not become
// gigabytes of empty arrays. A header has eight values a tensor; 256 experts of three matrices in 40 layers make
// 31,000 tensors, 248,000 values.
constexpr size_t max_values = 2'000'000;

// Decimal numbers do not follow the desktop's locale (GTK sets one with a decimal comma).
double parse_double(const char* text) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text, nullptr, c_locale);
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view where, std::string_view subject)
      : text_(text), where_(where), subject_(subject) {}

  Json document() {
    const size_t valid = valid_utf8_prefix(text_);
    if (valid != text_.size()) {
      at_ = valid;
      fail("a byte that is not UTF-8");
    }
    Json result = value(0);
    skip_blank();
    if (at_ != text_.size()) fail("text after the end of the document");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError("[" + std::string(where_) + "] " + std::string(subject_) + " is not valid JSON at byte " +
                      std::to_string(at_) + ": " + what);
  }

  void skip_blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool ended() const { return at_ >= text_.size(); }
  char peek() const {
    if (ended()) fail("the text ends early");
    return text_[at_];
  }
  bool take(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    peek();
    if (!take(c)) fail("\"" + printable(text_.substr(at_, 1)) + "\" where \"" + c + "\" is expected");
  }
  Json literal(std::string_view word, Json result) {
    if (text_.substr(at_, word.size()) != word) fail("an unknown word; allowed: true, false, null");
    at_ += word.size();
    return result;
  }

  Json value(int depth) {
    if (depth > max_depth) fail("nested deeper than " + std::to_string(max_depth) + " levels");
    if (++values_ > max_values) fail("more than " + std::to_string(max_values) + " values");
    skip_blank();
    switch (peek()) {
      case '{': return Json(object(depth));
      case '[': return Json(array(depth));
      case '"': return Json(string());
      case 't': return literal("true", Json(true));
      case 'f': return literal("false", Json(false));
      case 'n': return literal("null", Json(nullptr));
      default: return number();
    }
  }

  JsonArray array(int depth) {
    JsonArray result;
    expect('[');
    skip_blank();
    if (take(']')) return result;
    while (true) {
      result.push_back(value(depth + 1));
      skip_blank();
      if (take(']')) return result;
      expect(',');
    }
  }

  JsonObject object(int depth) {
    JsonObject result;
    std::unordered_set<std::string> keys;
    expect('{');
    skip_blank();
    if (take('}')) return result;
    while (true) {
      skip_blank();
      if (peek() != '"') fail("a key must be a string");
      std::string key = string();
      if (!keys.insert(key).second) fail("the key \"" + printable(key) + "\" appears twice");
      skip_blank();
      expect(':');
      Json member = value(depth + 1);
      result.emplace_back(std::move(key), std::move(member));
      skip_blank();
      if (take('}')) return result;
      expect(',');
    }
  }

  std::string string() {
    std::string result;
    expect('"');
    while (true) {
      const char c = peek();
      if (c == '"') return ++at_, result;
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character inside a string");
      ++at_;
      if (c == '\\') escape(result);
      else result += c;
    }
  }

  void escape(std::string& to) {
    const char c = peek();
    ++at_;
    switch (c) {
      case '"': to += '"'; return;
      case '\\': to += '\\'; return;
      case '/': to += '/'; return;
      case 'b': to += '\b'; return;
      case 'f': to += '\f'; return;
      case 'n': to += '\n'; return;
      case 'r': to += '\r'; return;
      case 't': to += '\t'; return;
      case 'u': append_utf8(code_point(), to); return;
      default: fail("an unknown escape in a string");
    }
  }

  uint32_t code_point() {
    const uint32_t first = four_digits();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || !take('\\') || !take('u')) fail("half of a surrogate pair");
    const uint32_t second = four_digits();
    if (second < 0xDC00 || second > 0xDFFF) fail("half of a surrogate pair");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  uint32_t four_digits() {
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = peek();
      ++at_;
      if (c >= '0' && c <= '9') result = result * 16 + static_cast<uint32_t>(c - '0');
      else if (c >= 'a' && c <= 'f') result = result * 16 + static_cast<uint32_t>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F') result = result * 16 + static_cast<uint32_t>(c - 'A' + 10);
      else fail("\\u needs four hexadecimal digits");
    }
    return result;
  }

  static void append_utf8(uint32_t code, std::string& to) {
    const auto put = [&to](uint32_t byte) { to += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) return put(0xC0 | code >> 6), put(0x80 | (code & 63));
    if (code < 0x10000) return put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  }

  size_t digits() {
    const size_t start = at_;
    while (!ended() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - start;
  }

  Json number() {
    const size_t start = at_;
    take('-');
    const size_t first_digit = at_;
    const size_t whole = digits();
    if (whole == 0)
      at_ = start,
      fail("\"" + printable(text_.substr(at_, 1)) + "\" where a value is expected (numbers must be finite)");
    if (whole > 1 && text_[first_digit] == '0') fail("a number with a leading zero");
    bool integer = true;
    if (take('.')) {
      integer = false;
      if (digits() == 0) fail("a number without digits after the point");
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) take('-');
      if (digits() == 0) fail("a number without digits in its exponent");
    }
    return to_number(std::string(text_.substr(start, at_ - start)), integer);
  }

  Json to_number(const std::string& digits, bool integer) const {
    if (integer) {
      errno = 0;
      const long long exact = std::strtoll(digits.c_str(), nullptr, 10);
      if (errno == 0) return Json(static_cast<int64_t>(exact));
    }
    const double result = parse_double(digits.c_str());
    if (!std::isfinite(result)) fail("a number beyond the range of a double");
    return Json(result);
  }

  std::string_view text_;
  std::string_view where_;
  std::string_view subject_;
  size_t at_ = 0;
  size_t values_ = 0;
};

}  // namespace

Json Json::parse(std::string_view text, std::string_view where, std::string_view subject) {
  return Parser(text, where, subject).document();
}

const double* Json::number(double& storage) const {
  if (const int64_t* exact = integer()) {
    storage = static_cast<double>(*exact);
    return &storage;
  }
  return std::get_if<double>(&value_);
}

const Json* Json::find(std::string_view key) const {
  const JsonObject* members = object();
  if (members == nullptr) return nullptr;
  for (const auto& [name, member] : *members) {
    if (name == key) return &member;
  }
  return nullptr;
}

}  // namespace longhand
