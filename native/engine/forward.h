// One pass of a family over a timeline's memory.
#pragma once

#include <span>

#include "engine/model.h"
#include "engine/pictures.h"
#include "engine/timeline_memory.h"

namespace longhand {

// Which rows of a pass get scores.
enum class Scored : uint8_t { none, last, all };

// Tokens that follow the `held` ones in `memory`, between begin() and the end of a pass: all of them text, or all rows
// of one picture that was seen. `total`: the length of the prompt they are part of. Returns the scores of the rows that
// are wanted.
Tensor forward(Model& model, TimelineMemory& memory, const Pictures& pictures, int64_t held,
               std::span<const int32_t> tokens, int64_t total, Scored rows);

}  // namespace longhand
