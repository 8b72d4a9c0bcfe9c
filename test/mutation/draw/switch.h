// Included before every file of a build that carries slips: which of them is on, and, when asked for, which were
// reached.
#pragma once
#ifdef __cplusplus
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace slips {
inline constexpr int most = 4096;
// Of each file on its own: loops of an instruction set share no function with other files.
static bool seen[most];
static const int active = std::getenv("LONGHAND_SLIP") ? std::atoi(std::getenv("LONGHAND_SLIP")) : 0;
static const char* const reached = std::getenv("LONGHAND_SLIPS_REACHED");

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
}  // namespace slips

[[maybe_unused]] static constexpr bool slip_is_on(int id) {
  return std::is_constant_evaluated() ? false : slips::at_run_time(id);
}
#endif
