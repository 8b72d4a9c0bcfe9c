// Weights to the blocks of GGUF files, bit for bit as ggml's own quantisers write them (ggml-quants.c, the reference
// functions and, with importance, the weights of its importance matrix).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ops/weight.h"

namespace longhand {

// q8_0, q4_0, q5_0, q5_1, q4_k, q5_k, q6_k; f32, f16 and bf16 as they are.
bool is_block_target(DType type);

// One row of `in` values, a whole number of blocks, to `to`. `importance`: the mean square of what each column is
// multiplied with; null: all the same.
void quantise_blocks(const float* row, int64_t in, const float* importance, DType type, std::byte* to);

}  // namespace longhand
