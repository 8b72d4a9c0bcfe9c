// What encoders compute: vectors of texts, and scores of pairs of texts.
#pragma once

#include "engine/matrix.h"
#include "engine/model.h"

namespace longhand {

// Encoders: the vectors of texts of `lengths` tokens, which stand one after the other in `tokens`, pooled and
// normalised as the checkpoint says: [texts, hidden]. They are read in one pass and do not see each other. Throws
// Cancelled.
Matrix embed(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> lengths,
             const std::atomic<bool>* cancel = nullptr);

// Cross-encoders: how well the second part of each text answers the first. Texts of `lengths` tokens stand one after
// the other in `tokens`; the second part begins at token `seconds[i]` of text i. They are read in one pass. Throws
// Cancelled.
std::vector<float> rank(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> seconds,
                        std::span<const int32_t> lengths, const std::atomic<bool>* cancel = nullptr);

}  // namespace longhand
