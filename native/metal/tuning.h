// What is chosen by chip.
#pragma once

#include <cstdint>
#include <string>

namespace longhand::metal {

struct Tuning {
  int64_t delta_chunk_from = 0;  // tokens of a pass from which the delta rule goes in chunks; 0: never
};

// The table's row for this device. LONGHAND_METAL_TUNING="delta_chunk_from=64" has the last word: for measuring.
Tuning tuning_for(const std::string& device);

}  // namespace longhand::metal
