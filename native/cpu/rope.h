#pragma once

#include <cstdint>
#include <span>

#include "ops/backend.h"

namespace longhand::cpu {

// cos and sin of one token's angles, rotary_dim / 2 each, both times attention_scale.
void rope_angles(const Rope& rope, std::span<const int32_t> positions, int64_t tokens, int64_t token, float* cosines,
                 float* sines);
// Rotates the first rotary_dim elements of one head.
void rotate(const Rope& rope, const float* cosines, const float* sines, float* head);

}  // namespace longhand::cpu
