// What a model computes outside any conversation: the vector of a text, the drafts of an MTP head.
#pragma once

#include "engine/session.h"

namespace longhand {

// Encoders: the vectors of texts of `lengths` tokens, which stand one after the other in `tokens`, pooled and
// normalised as the checkpoint says: [texts, hidden]. They are read in one pass and do not see each other.
Matrix embed(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> lengths);

// Cross-encoders: how well the second part of each text answers the first. Texts of `lengths` tokens stand one after
// the other in `tokens`; the second part begins at token `seconds[i]` of text i. They are read in one pass.
std::vector<float> rank(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> seconds,
                        std::span<const int32_t> lengths);

// Draft logits of the MTP head over a prompt; next[i] is the token after tokens[i]. With more than one step the head
// goes on from its own state and its best token, one row a step: [tokens + steps - 1, vocabulary].
Matrix draft_logits(const std::shared_ptr<Model>& model, std::span<const int32_t> tokens, std::span<const int32_t> next,
                    int64_t steps);

}  // namespace longhand
