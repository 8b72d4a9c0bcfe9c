#include "grammar/vocabulary.h"

#include <algorithm>

namespace longhand::grammar {

Vocabulary::Vocabulary(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::vector<int32_t> order;
  for (size_t id = 0; id < texts_.size(); ++id) {
    if (texts_[id].empty()) continue;
    order.push_back(static_cast<int32_t>(id));
    if (texts_[id].find_first_not_of(" \t\r\n") == std::string::npos) blanks_.push_back(static_cast<int32_t>(id));
    numbers_.try_emplace(texts_[id], static_cast<int32_t>(id));
  }
  std::ranges::sort(order, [&](int32_t a, int32_t b) { return std::tie(text(a), a) < std::tie(text(b), b); });
  std::vector<size_t> open;  // nodes of the text before
  const std::string* before = nullptr;
  for (const int32_t id : order) {
    const std::string& text = texts_[static_cast<size_t>(id)];
    size_t common = 0;
    if (before) common = static_cast<size_t>(std::ranges::mismatch(*before, text).in1 - before->begin());
    while (open.size() > common) {
      nodes_[open.back()].end = static_cast<int32_t>(nodes_.size());
      open.pop_back();
    }
    for (size_t i = common; i < text.size(); ++i) {
      open.push_back(nodes_.size());
      nodes_.push_back(
          {static_cast<unsigned char>(text[i]), static_cast<int32_t>(i), 0, static_cast<int32_t>(tokens_.size())});
    }
    tokens_.push_back(id);
    deepest_ = std::max(deepest_, static_cast<int32_t>(text.size()));
    before = &text;
  }
  for (const size_t node : open) nodes_[node].end = static_cast<int32_t>(nodes_.size());
}

std::span<const int32_t> Vocabulary::named(const std::string& text) const {
  const auto found = numbers_.find(text);
  return found == numbers_.end() ? std::span<const int32_t>{} : std::span(&found->second, 1);
}

std::vector<int32_t> Vocabulary::encode(std::string_view text) const {
  struct Piece {
    size_t begin, length;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < text.size(); ++i) pieces.push_back({i, 1});
  const auto number = [&](size_t begin, size_t length) {
    const auto found = numbers_.find(text.substr(begin, length));
    return found == numbers_.end() ? -1 : found->second;
  };
  for (;;) {
    int32_t oldest = -1;
    size_t at = 0;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const int32_t joined = number(pieces[i].begin, pieces[i].length + pieces[i + 1].length);
      if (joined < 0 || (oldest >= 0 && joined >= oldest)) continue;
      oldest = joined;
      at = i;
    }
    if (oldest < 0) break;
    pieces[at].length += pieces[at + 1].length;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<int32_t> out;
  for (const Piece& piece : pieces) {
    const int32_t id = number(piece.begin, piece.length);
    if (id < 0) return {};
    out.push_back(id);
  }
  return out;
}

}  // namespace longhand::grammar
