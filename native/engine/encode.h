// Encoders: embeddings of texts, and scores of pairs of texts.
#pragma once

#include "engine/matrix.h"
#include "engine/model.h"

namespace longhand {

// Embeddings of texts, pooled and normalised as the checkpoint says: [texts, hidden]. `tokens` holds the texts of
// `lengths` tokens one after the other; they are read in one pass without attending to each other. Throws Cancelled.
Matrix embed(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> lengths,
             const std::atomic<bool>* cancel = nullptr);

// Scores of a cross-encoder: how well the second part of each text answers the first. `tokens` holds the texts of
// `lengths` tokens one after the other; the second part of text i begins at its token `seconds[i]`. They are read in
// one pass. Throws Cancelled.
std::vector<float> rank(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> seconds,
                        std::span<const int32_t> lengths, const std::atomic<bool>* cancel = nullptr);

}  // namespace longhand
