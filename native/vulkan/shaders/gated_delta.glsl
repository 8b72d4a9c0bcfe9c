// Gated delta rule (arXiv 2412.06464; modeling_qwen3_5.py). Per value head, S [key_dim, value_dim]:
//   S <- exp(g) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q        then o <- rms_norm(o) * w * silu(z)
//
// A thread owns a column of S and keeps it in registers while tokens pass: no thread needs another's, whatever the size of
// a subgroup. Decode is one dispatch: gated_delta_step also convolves, normalises and gates. Prefill convolves first
// (short_conv.comp), then scans, then normalises. Both call the same functions in the same order.
#ifndef GATED_DELTA
#define GATED_DELTA

#include "reduce.glsl"

layout(constant_id = 10) const uint KEY_DIM = 64;
layout(constant_id = 19) const bool TILED = false;

uint key_head_of(uint value_head, uint key_heads, uint value_heads) {
  return TILED ? value_head % key_heads : value_head / (value_heads / key_heads);
}

// 1 / |k|, and 1 / (|q| sqrt(dim)), of the sum of squares.
float key_scale(float squares, float eps) { return 1.0 / sqrt(squares + eps); }
float query_scale(float squares, float eps) { return 1.0 / sqrt(squares + eps) / sqrt(float(KEY_DIM)); }

// A sum over the keys as several chains of additions, which do not wait for one another.
const uint CHAINS = 4;
float sum_of(float chains[CHAINS]) { return (chains[0] + chains[1]) + (chains[2] + chains[3]); }

// rms_norm(o) * w * silu(z)
float gated(float value, float scale, float weight, float z) { return value * scale * weight * silu(z); }

#endif
