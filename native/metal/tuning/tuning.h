// Choices that depend on the device: of several ways to compute the same, the one that is fastest there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace longhand::metal {

// The first five change no bit of a result, the next two only its last digits, and the last two what the fast path may
// round (test/metal/tuning.test.ts).
struct Tuning {
  int64_t matvec_rows = 4;        // rows of W a simdgroup owns, where one row of x is read
  int64_t matvec_simdgroups = 2;  // a threadgroup, there
  int64_t attention_shared = 0;   // 1: one token reads a short context once for all heads of a group
  int64_t delta_slices = 1;       // threadgroups a key head in a step of the delta rule, at least
  int64_t scan_simdgroups = 4;    // a threadgroup of the delta rule's scan over a prompt
  int64_t delta_chunk_from = 0;   // tokens of a pass from which the delta rule goes in chunks; 0: never
  // Target number of threadgroups for one token's attention; 0: one a head and 1024 keys.
  int64_t attention_groups = 0;
  int64_t matmul_half = 0;     // 1: prompts are multiplied in halves, on the fast path
  int64_t matmul_tensor = 0;   // 1: by tensor operations there, where tensor_check.h allows it
  std::string origin;          // who chose, in words
  std::string tensor_refused;  // why prompts are not multiplied by tensor operations, though chosen
};

// One thing to choose, and what the tuner tries.
struct Choice {
  const char* name;
  int64_t Tuning::* value;
  std::span<const int64_t> tried;
};
std::span<const Choice> choices();

// Whether this start measures, and goes by what was measured. LONGHAND_METAL_TUNER=off: no, on: yes. Without it: on a
// GPU, not on the stand-in, whose clock tells nothing of one.
bool tuner_wanted();

// "matvec_rows=8 matvec_simdgroups=2 ..."
std::string text_of(const Tuning& tuning);

// The row of the chips' table for a device of this name.
Tuning tuning_of_chip(const std::string& device);
// Applies LONGHAND_METAL_TUNING="matvec_rows=8,delta_chunk_from=64", which overrides everything: for measuring.
// False if it names nothing.
bool choose_by_environment(Tuning& tuning);

}  // namespace longhand::metal
