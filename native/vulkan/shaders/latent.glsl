// Latent attention (MHA2MLA, model-specs 14.5), absorbed: the cache holds the rotated part of the keys and a latent
// vector; W_up_k moves into the query, W_up_v behind the weighted sum of latents.
//   score = scale * (q_rope . k_rope + (W_up_k^T q_rest) . latent)        o = W_up_v sum_j p_j latent_j

// Dim j of `count` kept ones, rotated: rotate-half inside them (j with j + n / 2), by the angle of the dim it is from.
#define ROTATED(NAME, SOURCE)                                                                             \
  float NAME(uint first, uint j, uint original, float position, LatentParams l) {                         \
    const uint half_dims = l.rope_dim / 2;                                                                \
    const vec2 turn = sine_cosine(position * inv_freq[base[2] + original % (l.dim / 2)]);                 \
    const float other = j < half_dims ? -SOURCE[first + j + half_dims] : SOURCE[first + j - half_dims];   \
    return (SOURCE[first + j] * turn.y + other * turn.x) * l.attention_scale;                             \
  }
