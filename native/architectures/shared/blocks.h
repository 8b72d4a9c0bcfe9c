// The two blocks that most families consist of: grouped-query attention and the SwiGLU MLP, each including the norm
// before it and the residual after it.
#pragma once

#include "architectures/shared/config.h"
#include "architectures/shared/pass.h"
#include "architectures/shared/weights.h"

namespace longhand {

struct SelfAttention {
  Norm norm;
  WeightPtr qkv;  // rows: q | k | v; if `gated`, each query head is followed by its gate
  WeightPtr out;
  BufferPtr qkv_bias, out_bias;  // may be empty
  Heads heads;
  bool gated = false;  // out of attention * sigmoid(gate)
  bool qk_norm = false;
  Norm q_norm, k_norm;
  Rope rope;  // rotary_dim 0: no rotary positions
};
// x += out(attention(rope(qk_norm(qkv(norm(x)))))), keys and values in the KvCache of `layer`.
Tensor attend(Pass& pass, const SelfAttention& weights, size_t layer, Tensor x);

struct Swiglu {
  Norm norm;
  WeightPtr gate_up;  // rows: gate | up
  WeightPtr down;
};
// x += scale * down(silu(gate(norm(x))) * up(norm(x)))
Tensor swiglu(Pass& pass, const Swiglu& weights, Tensor x, float scale = 1.0f);

// Tensor names that Llama, Qwen and related families share.
std::vector<Rows> qkv_rows(const LayerNames& at, const Heads& heads, bool gated, const char* suffix);
Swiglu bind_swiglu(Weights& weights, const LayerNames& at, int64_t hidden, int64_t width, Norm norm);

}  // namespace longhand
