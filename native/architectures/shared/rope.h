// Rotary positions from a configuration: frequencies with every scaling applied (modeling_rope_utils.py).
#pragma once

#include "architectures/shared/config.h"
#include "architectures/shared/weights.h"

namespace longhand {

// `rotary_dim` of each head is rotated. Reads rope_parameters, or rope_theta and rope_scaling of older files, or GGUF
// keys and the tensor rope_freqs.weight.
Rope read_rope(const Config& config, Weights& weights, int64_t rotary_dim, Rope::Pairing pairing = Rope::Pairing::half);

// 1 / theta^(2j / rotary_dim), j = 0 .. rotary_dim / 2 - 1.
std::vector<double> plain_frequencies(double theta, int64_t rotary_dim);

}  // namespace longhand
