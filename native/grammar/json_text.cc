#include "grammar/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "grammar/regex.h"

namespace longhand::grammar {

namespace {

constexpr int32_t most_indent = 40;
// Integers of up to this many digits are exact in a double.
constexpr int most_digits = 15;
constexpr int64_t most_integer = 999'999'999'999'999;

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view plain = "\b\t\n\f\r\"\\", names = "btnfr\"\\", hex = "0123456789abcdef";
    const size_t at = plain.find(c);
    const auto byte = static_cast<unsigned char>(c);
    if (at != plain.npos) out += {'\\', names[at]};
    else if (byte < 32) out += {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    else out += c;
  }
  return out + '"';
}

Expr JsonText::once(Rule& rule, const char* name, Expr (JsonText::*body)()) {
  if (rule < 0) {
    rule = syntax_.declare(name);
    syntax_.define(rule, (this->*body)());
  }
  return syntax_.call(rule);
}

Expr JsonText::blank() { return once(blank_, "blank", &JsonText::blank_body); }
Expr JsonText::character() { return once(character_, "character", &JsonText::character_body); }
Expr JsonText::string() { return once(string_, "string", &JsonText::string_body); }
Expr JsonText::value() { return once(value_, "value", &JsonText::value_body); }
Expr JsonText::object() { return once(object_, "object", &JsonText::object_body); }
Expr JsonText::array() { return once(array_, "array", &JsonText::array_body); }

Expr JsonText::blank_body() {
  Syntax& s = syntax_;
  const Expr line = s.sequence({s.literal("\n"), s.repeat(s.characters({{' ', ' '}, {'\t', '\t'}}), 0, most_indent)});
  return s.optional(s.choice({s.literal(" "), line}));
}

Expr JsonText::character_body() {
  Syntax& s = syntax_;
  const auto hex = [&] { return s.characters({{'0', '9'}, {'A', 'F'}, {'a', 'f'}}); };
  // Escapes of surrogates come in pairs.
  const Expr scalar = s.choice(
      {s.sequence({s.characters({{'0', '9'}, {'A', 'C'}, {'E', 'F'}, {'a', 'c'}, {'e', 'f'}}), hex(), hex(), hex()}),
       s.sequence({s.characters({{'D', 'D'}, {'d', 'd'}}), s.characters({{'0', '7'}}), hex(), hex()})});
  const Expr high = s.sequence(
      {s.characters({{'D', 'D'}, {'d', 'd'}}), s.characters({{'8', '9'}, {'A', 'B'}, {'a', 'b'}}), hex(), hex()});
  const Expr low =
      s.sequence({s.characters({{'D', 'D'}, {'d', 'd'}}), s.characters({{'C', 'F'}, {'c', 'f'}}), hex(), hex()});
  const Expr escaped = s.choice(
      {s.characters({{'"', '"'}, {'/', '/'}, {'\\', '\\'}, {'b', 'b'}, {'f', 'f'}, {'n', 'n'}, {'r', 'r'}, {'t', 't'}}),
       s.sequence({s.literal("u"), scalar}), s.sequence({s.literal("u"), high, s.literal("\\u"), low})});
  return s.choice(
      {s.characters(complement({{0, 31}, {'"', '"'}, {'\\', '\\'}})), s.sequence({s.literal("\\"), escaped})});
}

Expr JsonText::string_body() { return string(0, unbounded); }

Expr JsonText::quoted(Expr inner) { return syntax_.sequence({syntax_.literal("\""), inner, syntax_.literal("\"")}); }
Expr JsonText::quoted(std::string_view text) { return syntax_.literal(json_string(text)); }

Expr JsonText::string(int32_t least, int32_t most) {
  // A part of the automaton of its own where it repeats without end, so that a token is one walk; counted ones call.
  const Expr one = most == unbounded && least == 0 ? character_body() : character();
  return quoted(syntax_.repeat(one, least, most));
}

Expr JsonText::string_but(const std::vector<std::string>& excluded) {
  if (excluded.empty()) return string();
  Syntax& s = syntax_;
  if (plain_ < 0) plain_ = s.add("plain character", written(s, complement({}), Writing::json));
  const Expr any = s.repeat(s.call(plain_), 0, unbounded);
  // Follows the excluded words as a tree: a string that leaves the tree may continue freely.
  struct Branch {
    std::map<uint32_t, size_t> next;
    bool word = false;
  };
  std::vector<Branch> tree(1);
  for (const std::string& word : excluded) {
    size_t at = 0;
    for (size_t i = 0; i < word.size();) {
      const uint32_t code = next_code(word, i);
      if (!tree[at].next.contains(code)) {
        tree[at].next[code] = tree.size();
        tree.emplace_back();
      }
      at = tree[at].next[code];
    }
    tree[at].word = true;
  }
  std::vector<Expr> exprs(tree.size());
  for (size_t at = tree.size(); at-- > 0;) {
    CodeSet taken;
    std::vector<Expr> choices;
    if (!tree[at].word) choices.push_back(s.empty());
    for (const auto& [code, to] : tree[at].next) {
      taken.push_back({code, code});
      choices.push_back(s.sequence({written(s, {{code, code}}, Writing::json), exprs[to]}));
    }
    choices.push_back(s.sequence({written(s, complement(normalised(taken)), Writing::json), any}));
    exprs[at] = s.choice(std::move(choices));
  }
  return quoted(exprs.front());
}

Expr JsonText::value_body() {
  Syntax& s = syntax_;
  return s.choice({object(), array(), string(), number(), s.literal("true"), s.literal("false"), s.literal("null")});
}

Expr JsonText::object_body() {
  Syntax& s = syntax_;
  const Expr member = s.sequence({string(), s.literal(":"), blank(), value()});
  const Expr more = s.repeat(s.sequence({s.literal(","), blank(), member}), 0, unbounded);
  return s.sequence({s.literal("{"), blank(), s.optional(s.sequence({member, more, blank()})), s.literal("}")});
}

Expr JsonText::array_body() {
  Syntax& s = syntax_;
  const Expr more = s.repeat(s.sequence({s.literal(","), blank(), value()}), 0, unbounded);
  return s.sequence({s.literal("["), blank(), s.optional(s.sequence({value(), more, blank()})), s.literal("]")});
}

Expr JsonText::integer() {
  Syntax& s = syntax_;
  const Expr more = s.repeat(s.range('0', '9'), 0, most_digits - 1);
  return s.choice({s.literal("0"), s.sequence({s.optional(s.literal("-")), s.range('1', '9'), more})});
}

// Within the range of a double, since readers may not support infinity.
Expr JsonText::number() {
  Syntax& s = syntax_;
  const Expr whole =
      s.choice({s.literal("0"), s.sequence({s.range('1', '9'), s.repeat(s.range('0', '9'), 0, most_digits - 1)})});
  const Expr part = s.sequence({s.literal("."), s.repeat(s.range('0', '9'), 1, most_digits)});
  const Expr power =
      s.sequence({s.characters({{'E', 'E'}, {'e', 'e'}}), s.optional(s.characters({{'+', '+'}, {'-', '-'}})),
                  s.repeat(s.range('0', '9'), 1, 2)});
  return s.sequence({s.optional(s.literal("-")), whole, s.optional(part), s.optional(power)});
}

Expr JsonText::number_between(std::optional<double> least, std::optional<double> most, bool above, bool below,
                              int decimals) {
  std::vector<Expr> choices;
  double scale = 1;
  for (int places = 0; places <= decimals; ++places, scale *= 10) {
    const double limit = static_cast<double>(most_integer);
    const double low = std::clamp(least.value_or(-limit) * scale, -limit, limit);
    const double high = std::clamp(most.value_or(limit) * scale, -limit, limit);
    auto first = static_cast<int64_t>(std::ceil(low)), last = static_cast<int64_t>(std::floor(high));
    // What is written is read as a double, and that is what is compared.
    const auto read = [&](int64_t value) { return static_cast<double>(value) / scale; };
    while (first <= last && least && (above ? read(first) <= *least : read(first) < *least)) ++first;
    while (first <= last && most && (below ? read(last) >= *most : read(last) > *most)) --last;
    if (first <= last) choices.push_back(scaled_between(first, last, places));
  }
  return syntax_.choice(std::move(choices));
}

// Integers from least to most with a point before their last digits.
Expr JsonText::scaled_between(int64_t least, int64_t most, int decimals) {
  std::vector<Expr> choices;
  if (least < 0) {
    const int64_t nearest = std::max<int64_t>(1, -most);
    choices.push_back(syntax_.sequence({syntax_.literal("-"), scaled_between(nearest, -least, decimals)}));
  }
  const int64_t first = std::max<int64_t>(least, 0);
  for (int64_t low = 0, high = static_cast<int64_t>(std::pow(10, decimals + 1)) - 1; low <= most;
       low = high + 1, high = high * 10 + 9) {
    const int64_t from = std::max(low, first), to = std::min(high, most);
    if (from > to) continue;
    const auto padded = [&](int64_t value) {
      const std::string text = std::to_string(value), widest = std::to_string(high);
      return std::string(widest.size() - text.size(), '0') + text;
    };
    const std::string widest = std::to_string(high);
    choices.push_back(digits_between(padded(from), padded(to), widest.size() - static_cast<size_t>(decimals)));
  }
  return syntax_.choice(std::move(choices));
}

// Texts of as many digits, from one to the other; the point stands before the digit `point`, if there is one.
Expr JsonText::digits_between(const std::string& least, const std::string& most, size_t point) {
  Syntax& s = syntax_;
  if (least.empty()) return s.empty();
  if (point == 0) return s.sequence({s.literal("."), digits_between(least, most, std::string::npos)});
  const size_t next = point == std::string::npos ? point : point - 1;
  const std::string nines(least.size() - 1, '9'), zeros(least.size() - 1, '0');
  const std::string low = least.substr(1), high = most.substr(1);
  const auto digit = [&](char first, char last) {
    return s.range(static_cast<unsigned char>(first), static_cast<unsigned char>(last));
  };
  if (least[0] == most[0]) return s.sequence({digit(least[0], least[0]), digits_between(low, high, next)});
  char first = least[0], last = most[0];
  std::vector<Expr> choices;
  if (low != zeros) {
    choices.push_back(s.sequence({digit(first, first), digits_between(low, nines, next)}));
    ++first;
  }
  if (high != nines) {
    choices.push_back(s.sequence({digit(last, last), digits_between(zeros, high, next)}));
    --last;
  }
  if (first <= last) choices.push_back(s.sequence({digit(first, last), digits_between(zeros, nines, next)}));
  return s.choice(std::move(choices));
}

Expr JsonText::constant(const Json& value) {
  Syntax& s = syntax_;
  if (value.is_null()) return s.literal("null");
  if (const bool* flag = value.boolean()) return s.literal(*flag ? "true" : "false");
  if (const std::string* text = value.string()) return quoted(std::string_view(*text));
  if (const int64_t* number = value.integer()) return s.literal(std::to_string(*number));
  double storage = 0;
  if (const double* number = value.number(storage)) {
    char digits[64];
    const auto [end, _] = std::to_chars(digits, digits + sizeof digits, *number);
    return s.literal(std::string_view(digits, static_cast<size_t>(end - digits)));
  }
  const bool list = value.array() != nullptr;
  std::vector<Expr> parts{s.literal(list ? "[" : "{"), blank()};
  bool first = true;
  const auto separate = [&] {
    if (!std::exchange(first, false)) parts.insert(parts.end(), {s.literal(","), blank()});
  };
  if (list) {
    for (const Json& item : *value.array()) {
      separate();
      parts.push_back(constant(item));
    }
  } else {
    for (const auto& [key, member] : *value.object()) {
      separate();
      parts.insert(parts.end(), {quoted(std::string_view(key)), s.literal(":"), blank(), constant(member)});
    }
  }
  parts.insert(parts.end(), {blank(), s.literal(list ? "]" : "}")});
  return s.sequence(std::move(parts));
}

}  // namespace longhand::grammar
