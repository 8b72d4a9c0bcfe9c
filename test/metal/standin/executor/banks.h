// How often the banks of threadgroup memory make the lanes of a simdgroup wait for each other: 32 banks of 4 bytes, one
// word of each at a time. Of what lanes access together, a bank serves its different words one after the other; what
// takes longer than the same words spread evenly is a conflict. (Apple publishes no figures; 32 banks are what
// measurements of Apple GPUs and the padding of published kernels agree on.)
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace standin {

class BankCounter {
 public:
  // An access by code at `pc`. Lanes run one after the other here: the n-th access of each at a place belongs together.
  // In a branch that lanes enter at different turns of a loop they fall out of step, and too much is counted.
  void access(int lane, uintptr_t address, unsigned bytes, const void* pc);
  // An 8 x 8 matrix, rows `stride` bytes apart, is loaded or stored as a whole; null `first`: it is done. The accesses
  // of its lanes between the two are not counted again.
  void matrix(int lane, uintptr_t first, uint64_t stride, unsigned element);
  // All lanes stand at a barrier, or have ended.
  void settle();
  // All that was counted since `reset`.
  uint64_t finish() { return settle(), conflicts_; }
  void reset();

 private:
  using Words = std::vector<uintptr_t>;
  void count(Words& words);

  std::array<std::unordered_map<const void*, uint32_t>, 1024> passed_;  // accesses of a lane at a place
  std::array<bool, 1024> in_matrix_{};
  std::map<std::pair<const void*, uint64_t>, Words> together_;  // place; simdgroup and n
  uint64_t conflicts_ = 0;
};

}  // namespace standin
