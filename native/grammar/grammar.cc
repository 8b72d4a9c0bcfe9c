#include "grammar/grammar.h"

#include <algorithm>

#include "grammar/limits.h"

namespace longhand::grammar {

namespace {

constexpr size_t masks_at_hand = 32;

void allow(Mask& mask, std::span<const int32_t> tokens) {
  for (const int32_t token : tokens) mask[static_cast<size_t>(token) / 32] |= 1u << (static_cast<uint32_t>(token) % 32);
}

// Marks every token in a stretch of the tree that can be read from `from`, which stands at the parent of its first
// node. `returns` receives the nodes after which the caller decides.
void walk(const Vocabulary& vocabulary, const Automaton& automaton, Kernels& kernels, size_t begin, size_t end,
          KernelId from, Mask& mask, std::vector<int32_t>* returns) {
  if (begin >= end) return;
  const std::vector<Vocabulary::Node>& nodes = vocabulary.nodes();
  std::vector<KernelId> above(static_cast<size_t>(vocabulary.deepest()) + 1);
  above[static_cast<size_t>(nodes[begin].depth)] = from;
  for (size_t at = begin; at < end;) {
    const Vocabulary::Node& node = nodes[at];
    const auto depth = static_cast<size_t>(node.depth);
    const KernelId here = kernels.step(above[depth], automaton.class_of(node.byte));
    if (here == dead) {
      at = static_cast<size_t>(node.end);
      continue;
    }
    allow(mask, vocabulary.tokens_at(at));
    if (returns && kernels.returns(here)) returns->push_back(static_cast<int32_t>(at));
    if (!kernels.goes_on(here)) {
      at = static_cast<size_t>(node.end);
      continue;
    }
    above[depth + 1] = here;
    ++at;
  }
}

}  // namespace

Grammar::Grammar(const Syntax& syntax, std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), automaton_(syntax), kernels_(automaton_), locals_(automaton_.states()) {}

std::shared_ptr<const Grammar::Local> Grammar::local(State state) {
  const std::lock_guard lock(lock_);
  std::shared_ptr<const Local>& known = locals_[static_cast<size_t>(state)];
  if (known) return known;
  if (kernels_.size() > max_kernels) kernels_.forget_others(dead);
  auto found = std::make_shared<Local>();
  found->mask.assign(vocabulary_->words(), 0);
  walk(*vocabulary_, automaton_, kernels_, 0, vocabulary_->nodes().size(), kernels_.of(state, unknown), found->mask,
       &found->returns);
  const size_t bytes = 4 * (found->mask.size() + found->returns.size());
  if (mask_bytes_ + bytes > max_mask_bytes) {
    std::ranges::fill(locals_, nullptr);
    mask_bytes_ = 0;
  }
  mask_bytes_ += bytes;
  return known = std::move(found);
}

Matcher::Matcher(std::shared_ptr<Grammar> grammar)
    : grammar_(std::move(grammar)), kernels_(grammar_->automaton()), here_(kernels_.begin()) {}

KernelId Matcher::after(std::string_view text) {
  KernelId kernel = here_;
  for (const char c : text) kernel = kernels_.step(kernel, static_cast<unsigned char>(c));
  return kernel;
}

bool Matcher::accept(std::string_view text) {
  const KernelId next = after(text);
  if (next == dead) return false;
  here_ = next;
  if (kernels_.size() > max_kernels) {
    here_ = kernels_.forget_others(here_);
    masks_.clear();
  }
  return true;
}

const Mask& Matcher::mask() {
  const auto known = std::ranges::find(masks_, here_, &CachedMask::kernel);
  if (known != masks_.end()) {
    masks_.splice(masks_.begin(), masks_, known);
    return masks_.front().mask;
  }
  const Vocabulary& vocabulary = grammar_->vocabulary();
  Mask mask(vocabulary.words(), 0);
  const std::vector<Item> items = kernels_.expanded(here_);
  for (const Item& item : items) {
    if (grammar_->automaton().exhausted(item.state)) continue;
    const std::shared_ptr<const Grammar::Local> local = grammar_->local(item.state);
    for (size_t i = 0; i < mask.size(); ++i) mask[i] |= local->mask[i];
    for (const int32_t node : local->returns) {
      walk(vocabulary, grammar_->automaton(), kernels_, static_cast<size_t>(node) + 1,
           static_cast<size_t>(vocabulary.nodes()[static_cast<size_t>(node)].end), item.parent, mask, nullptr);
    }
  }
  if (masks_.size() >= masks_at_hand) masks_.pop_back();
  return masks_.emplace_front(CachedMask{here_, std::move(mask)}).mask;
}

std::string Matcher::forced(size_t most) {
  const Automaton& automaton = grammar_->automaton();
  std::string out;
  KernelId kernel = here_;
  while (out.size() < most && !kernels_.ends(kernel)) {
    int only = -1;
    KernelId next = dead;
    for (int c = 0; c < automaton.classes(); ++c) {
      const KernelId to = kernels_.step(kernel, c);
      if (to == dead) continue;
      if (only >= 0 || automaton.only_byte(c) < 0) return out;
      only = automaton.only_byte(c);
      next = to;
    }
    if (only < 0) return out;
    out.push_back(static_cast<char>(only));
    kernel = next;
  }
  return out;
}

}  // namespace longhand::grammar
