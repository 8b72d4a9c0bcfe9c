// The tokens of a model as a tree of bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace longhand::grammar {

class Vocabulary {
 public:
  // texts[id]: the bytes that a token adds to a text; empty for one that adds none and is never written.
  explicit Vocabulary(std::vector<std::string> texts);

  struct Node {
    unsigned char byte;
    int32_t depth;        // 0 for the children of the root
    int32_t end;          // the first node behind its subtree
    int32_t first_token;  // tokens(): those that end here, up to the first of the next node
  };
  // Each before its children.
  const std::vector<Node>& nodes() const { return nodes_; }
  std::span<const int32_t> tokens_at(size_t node) const {
    const auto first = static_cast<size_t>(nodes_[node].first_token);
    const size_t last = node + 1 < nodes_.size() ? static_cast<size_t>(nodes_[node + 1].first_token) : tokens_.size();
    return std::span(tokens_).subspan(first, last - first);
  }
  // Tokens of this text, and those of white space alone.
  std::span<const int32_t> named(const std::string& text) const;
  const std::vector<int32_t>& blanks() const { return blanks_; }
  int32_t deepest() const { return deepest_; }
  size_t size() const { return texts_.size(); }
  size_t words() const { return (texts_.size() + 31) / 32; }  // of a mask
  const std::string& text(int32_t token) const { return texts_[static_cast<size_t>(token)]; }
  // Encodes as BPE does: repeatedly merges the two neighbours whose joined text is the oldest token.
  // Empty if a byte has no token.
  std::vector<int32_t> encode(std::string_view text) const;

 private:
  std::vector<std::string> texts_;
  std::vector<Node> nodes_;
  std::vector<int32_t> tokens_, blanks_;
  std::unordered_map<std::string_view, int32_t> numbers_;  // the lowest of equals
  int32_t deepest_ = 0;
};

}  // namespace longhand::grammar
