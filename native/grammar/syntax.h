// Rules over bytes, as the readers of schemas, regular expressions and GBNF make them.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace longhand::grammar {

using ByteSet = std::bitset<256>;
using Expr = int32_t;  // a node of its Syntax
using Rule = int32_t;

// Code points from first to last.
struct CodeRange {
  uint32_t first, last;
};
using CodeSet = std::vector<CodeRange>;  // ascending, apart from each other

CodeSet normalised(CodeSet set);
CodeSet complement(const CodeSet& set);  // of all code points but surrogates
CodeSet intersection(const CodeSet& a, const CodeSet& b);

inline constexpr int32_t unbounded = -1;
// Control tokens are encoded as this byte, which UTF-8 does not use, and three bytes of their id.
inline constexpr unsigned char control_mark = 0xff;
std::string control_text(int32_t token);

class Syntax {
 public:
  struct Node {
    enum class Kind : uint8_t { bytes, sequence, choice, repeat, call } kind;
    ByteSet set{};
    std::vector<Expr> parts{};
    int32_t least = 0, most = 0;  // of repeat
    Rule rule = -1;
  };
  struct Named {
    std::string name;
    Expr body = -1;
  };

  Expr bytes(const ByteSet& set);
  Expr range(unsigned char first, unsigned char last);
  Expr literal(std::string_view text);
  Expr sequence(std::vector<Expr> parts);  // of none: the empty text
  Expr choice(std::vector<Expr> parts);    // of none: nothing at all
  Expr repeat(Expr part, int32_t least, int32_t most);
  Expr optional(Expr part) { return repeat(part, 0, 1); }
  // Any one of these characters, in UTF-8.
  Expr characters(const CodeSet& set);
  Expr call(Rule rule);
  Expr empty() { return sequence({}); }

  // Declared before defined, so that rules may call each other. The first is the start rule.
  Rule declare(std::string name);
  void define(Rule rule, Expr body) { rules_[static_cast<size_t>(rule)].body = body; }
  Rule add(std::string name, Expr body);

  const Node& node(Expr expr) const { return nodes_[static_cast<size_t>(expr)]; }
  const std::vector<Named>& rules() const { return rules_; }

 private:
  Expr push(Node node);

  std::vector<Node> nodes_;
  std::vector<Named> rules_;
};

}  // namespace longhand::grammar
