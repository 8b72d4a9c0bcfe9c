// Runs one forward pass over the memory of one or several timelines.
#pragma once

#include <span>

#include "engine/model.h"
#include "engine/pictures.h"
#include "engine/timeline/timeline_memory.h"

namespace longhand {

// The rows of a pass whose logits are computed.
enum class Scored : uint8_t { none, last, all };

// Reads the tokens that follow the `held` ones in `memory`. Call between begin() and the end of a pass. They are all
// text, or all rows of one picture that has been encoded. `total`: the length of their prompt. Returns the logits of
// the selected rows.
Tensor forward(Model& model, TimelineMemory& memory, const Pictures& pictures, int64_t held,
               std::span<const int32_t> tokens, int64_t total, Scored rows);

// Reads the next text token of each of several timelines in one pass. Returns one row of logits per timeline, in order;
// each row is bit for bit what a pass for it alone would give.
struct NextToken {
  TimelineMemory* memory = nullptr;
  const Pictures* pictures = nullptr;
  int64_t held = 0;
  int32_t token = 0;
};
Tensor forward(Model& model, std::span<const NextToken> next);

}  // namespace longhand
