// One pass of a family over the memory of a timeline, or of several.
#pragma once

#include <span>

#include "engine/model.h"
#include "engine/pictures.h"
#include "engine/timeline/timeline_memory.h"

namespace longhand {

// Which rows of a pass get scores.
enum class Scored : uint8_t { none, last, all };

// Tokens that follow the `held` ones in `memory`, between begin() and the end of a pass: all of them text, or all rows
// of one picture that was seen. `total`: the length of the prompt they are part of. Returns the scores of the rows that
// are wanted.
Tensor forward(Model& model, TimelineMemory& memory, const Pictures& pictures, int64_t held,
               std::span<const int32_t> tokens, int64_t total, Scored rows);

// The next token, of a text, of each of several timelines, in one pass. Returns scores, a row for each in their order;
// every row is what it would be alone, bit for bit.
struct NextToken {
  TimelineMemory* memory = nullptr;
  const Pictures* pictures = nullptr;
  int64_t held = 0;
  int32_t token = 0;
};
Tensor forward(Model& model, std::span<const NextToken> next);

}  // namespace longhand
