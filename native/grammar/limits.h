// Limits on the cost of an untrusted grammar.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace longhand::grammar {

inline constexpr size_t max_text = 1024 * 1024;  // bytes of a schema, a regular expression or a grammar
inline constexpr size_t max_nodes = 1'000'000;   // parts of all rules
inline constexpr size_t max_rules = 20'000;
inline constexpr size_t max_states = 200'000;   // of all automata, before and after they are made deterministic
inline constexpr int max_depth = 100;           // groups within groups
inline constexpr int max_count = 10'000;        // {n}, maxLength, maxItems
inline constexpr size_t max_items = 4096;       // ways to read a text so far
inline constexpr size_t max_kernels = 200'000;  // beyond it, sets no longer needed are forgotten
inline constexpr size_t max_mask_bytes = 64 * 1024 * 1024;  // of masks cached with a grammar

[[noreturn]] inline void refuse_size(const char* what, size_t most) {
  throw std::invalid_argument("[grammar] it becomes too large: more than " + std::to_string(most) + " " + what);
}

}  // namespace longhand::grammar
