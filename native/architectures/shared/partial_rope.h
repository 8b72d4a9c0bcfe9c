// Which dims of a head keep their rotary position in an MHA2MLA checkpoint (arXiv 2502.14837).
// Pairs are (i, i + dim / 2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "architectures/shared/config.h"
#include "ops/backend.h"

namespace longhand {

// Retained pairs per layer and key-value head, as ascending pair indices.
using PartialRope = std::vector<std::vector<std::vector<int32_t>>>;

// The measured selection of a published model of this shape.
std::optional<PartialRope> published_pairs(int64_t layers, const Heads& heads, int64_t pairs);

PartialRope read_partial_rope(const Config& config, int64_t layers, const Heads& heads);

// Dims in column order, [kv_heads][...]. Retained: the lower halves of the pairs, then the upper. The others:
// ascending.
struct RetainedDims {
  std::vector<std::vector<int32_t>> retained, rest;
};
RetainedDims retained_dims(const PartialRope& partial, int64_t layer, const Heads& heads);

}  // namespace longhand
