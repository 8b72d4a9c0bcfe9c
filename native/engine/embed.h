// What a model computes outside any conversation: the vector of a text, the drafts of an MTP head.
#pragma once

#include "engine/session.h"

namespace longhand {

// Encoders: the vectors of texts of `lengths` tokens, which stand one after the other in `tokens`, pooled and
// normalised as the checkpoint says: [texts, hidden]. They are read in one pass and do not see each other.
Matrix embed(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> lengths);

// Cross-encoders: how well the text from token `second` on answers the one before it.
float rank(Model& model, std::span<const int32_t> tokens, int64_t second);

// Draft logits of the MTP head over a prompt; next[i] is the token after tokens[i]. With more than one step the head
// goes on from its own state and its best token, one row a step: [tokens + steps - 1, vocabulary].
Matrix draft_logits(const std::shared_ptr<Model>& model, std::span<const int32_t> tokens, std::span<const int32_t> next,
                    int64_t steps);

}  // namespace longhand
