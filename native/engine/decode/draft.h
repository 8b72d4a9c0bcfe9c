// Logits of a drafting head (multi-token prediction).
#pragma once

#include "engine/matrix.h"
#include "engine/model.h"

namespace longhand {

// Draft logits of the MTP head over a prompt; next[i] is the token after tokens[i]. With more than one step the head
// continues from its own state and its best token, one row per step: [tokens + steps - 1, vocabulary].
Matrix draft_logits(const std::shared_ptr<Model>& model, std::span<const int32_t> tokens, std::span<const int32_t> next,
                    int64_t steps);

}  // namespace longhand
