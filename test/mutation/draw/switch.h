// Stands before every file that carries mutants: which of them is on, and, when asked for, which were
// reached.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace mutants {
inline constexpr int most = 4096;
// Of each file on its own: loops of an instruction set share no function with other files.
static bool seen[most];
static const int active = std::getenv("LONGHAND_MUTANT") ? std::atoi(std::getenv("LONGHAND_MUTANT")) : 0;
static const char* const reached = std::getenv("LONGHAND_MUTANTS_REACHED");

[[maybe_unused]] static void note(int id) {
  if (seen[id]) return;
  seen[id] = true;
  const int file = open(reached, O_WRONLY | O_CREAT | O_APPEND, 0600);
  char line[16];
  const int length = std::snprintf(line, sizeof line, "%d\n", id);
  if (file < 0) return;
  if (write(file, line, static_cast<size_t>(length)) < 0) std::perror(reached);
  close(file);
}

[[maybe_unused]] static bool at_run_time(int id) {
  if (reached) note(id);
  return id == active;
}
}  // namespace mutants

[[maybe_unused]] static constexpr bool mutant_is_on(int id) {
  return std::is_constant_evaluated() ? false : mutants::at_run_time(id);
}

// A mutant may look odd to a compiler; it is not to be found by a warning.
#ifdef __clang__
#pragma clang diagnostic ignored "-Weverything"
#else
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
