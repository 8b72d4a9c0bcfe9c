#include "executor/banks.h"

#include <algorithm>

namespace standin {

constexpr uintptr_t kWord = 4, kBanks = 32;

void BankCounter::access(int lane, uintptr_t address, unsigned bytes, const void* pc) {
  const auto at = static_cast<size_t>(lane);
  if (in_matrix_[at]) return;
  const uint64_t n = passed_[at][pc]++;
  Words& words = together_[{pc, (n << 5) | (at >> 5)}];
  for (uintptr_t word = address / kWord; word <= (address + bytes - 1) / kWord; word++) words.push_back(word);
}

void BankCounter::matrix(int lane, uintptr_t first, uint64_t stride, unsigned element) {
  in_matrix_[static_cast<size_t>(lane)] = first != 0;
  if (first == 0 || lane % 32 != 0) return;
  Words words;
  for (uintptr_t row = 0; row < 8; row++)
    for (uintptr_t column = 0; column < 8; column++) words.push_back((first + row * stride + column * element) / kWord);
  count(words);
}

void BankCounter::settle() {
  if (together_.empty()) return;
  for (auto& [place, words] : together_) count(words);
  together_.clear();
  for (auto& lane : passed_) lane.clear();
}

void BankCounter::count(Words& words) {
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<uint64_t, kBanks> of_bank{};
  for (const uintptr_t word : words) of_bank[word % kBanks]++;
  conflicts_ += *std::ranges::max_element(of_bank) - (words.size() + kBanks - 1) / kBanks;
}

void BankCounter::reset() {
  settle();
  in_matrix_.fill(false);
  conflicts_ = 0;
}

}  // namespace standin
