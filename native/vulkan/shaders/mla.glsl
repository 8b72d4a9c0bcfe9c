// Latent attention (MHA2MLA, arXiv 2502.14837), absorbed: the cache holds the rotated part of the keys and a latent
// vector; W_up_k moves into the query, W_up_v behind the weighted sum of latents.
//   score = scale * (q_rope . k_rope + (W_up_k^T q_rest) . latent)        o = W_up_v sum_j p_j latent_j
// No row is kept whole in shared memory, so a latent may be of any width.
layout(constant_id = 9) const uint ELEMENT_TYPE = 0;  // of W_up_k and W_up_v: 0 f32, 1 f16, 2 bf16

// A kept dim, rotated by the angle of the dim it is from (`turn`: its sine and cosine). `other` is its partner half a turn
// away, negative for the first half of the kept dims.
float rotated(float value, float other, vec2 turn, float scale) { return (value * turn.y + other * turn.x) * scale; }

// Defines NAME(first, i): element i of a matrix that begins at word `first` of a binding.
#define ELEMENT_READER(NAME, WORDS)                                                  \
  float NAME(uint first, uint i) {                                                   \
    if (ELEMENT_TYPE == 0) return uintBitsToFloat(WORDS[first + i]);                 \
    const uint bits = (WORDS[first + (i >> 1)] >> ((i & 1) * 16)) & 0xffffu;         \
    return ELEMENT_TYPE == 1 ? half_value(bits) : bf16_value(bits);                  \
  }
