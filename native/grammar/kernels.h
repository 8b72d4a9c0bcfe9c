// The position of a text, as a number: a set of (state, continuation after that state's rule ends), closed over rules
// that can end there. Each set exists once, and its transitions are cached.
#pragma once

#include <unordered_map>
#include <vector>

#include "grammar/automaton.h"

namespace longhand::grammar {

using KernelId = int32_t;
inline constexpr KernelId dead = 0;
inline constexpr KernelId bottom = 1;   // the grammar has ended
inline constexpr KernelId unknown = 2;  // any caller: for results shared by all callers

struct Item {
  State state;
  KernelId parent;
  auto operator<=>(const Item&) const = default;
};

class Kernels {
 public:
  explicit Kernels(const Automaton& automaton);

  KernelId begin();  // of the whole grammar
  KernelId of(State state, KernelId parent) { return intern({{state, parent}}); }
  KernelId step(KernelId kernel, int byte_class) {
    const size_t at = static_cast<size_t>(kernel) * classes_ + static_cast<size_t>(byte_class);
    const KernelId known = next_[at];
    return known >= 0 ? known : find_step(kernel, byte_class);
  }
  KernelId step(KernelId kernel, unsigned char byte) { return step(kernel, automaton_.class_of(byte)); }

  // The text may end here.
  bool ends(KernelId kernel) const { return kernels_[static_cast<size_t>(kernel)].ends; }
  // May continue in the caller.
  bool returns(KernelId kernel) const { return kernels_[static_cast<size_t>(kernel)].returns; }
  bool goes_on(KernelId kernel) const { return !kernels_[static_cast<size_t>(kernel)].items.empty(); }
  // With the rules that begin here.
  const std::vector<Item>& expanded(KernelId kernel);

  size_t size() const { return kernels_.size(); }
  // Forgets all sets but `kernel` and its continuations. Returns its new number.
  KernelId forget_others(KernelId kernel);

 private:
  struct Kernel {
    std::vector<Item> items;  // sorted
    bool ends = false, returns = false;
    bool is_expanded = false;
    std::vector<Item> expanded{};
  };
  KernelId intern(std::vector<Item> items);
  KernelId find_step(KernelId kernel, int byte_class);
  void clear();

  const Automaton& automaton_;
  size_t classes_;
  std::vector<Kernel> kernels_;
  std::vector<KernelId> next_;  // [kernels, classes]; -1: not computed yet
  std::unordered_multimap<uint64_t, KernelId> numbers_;
};

}  // namespace longhand::grammar
