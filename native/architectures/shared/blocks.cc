#include "architectures/shared/blocks.h"

#include <cmath>

namespace longhand {

Tensor attend(Pass& pass, const SelfAttention& weights, size_t layer, Tensor x) {
  const Qkv columns{.heads = weights.heads,
                    .gated = weights.gated,
                    .q_norm = weights.qk_norm ? &weights.q_norm : nullptr,
                    .k_norm = weights.qk_norm ? &weights.k_norm : nullptr};
  const Attention shape{weights.heads, 1.0f / std::sqrt(static_cast<float>(weights.heads.dim))};
  const Tensor p =
      pass->linear(x, *weights.qkv, {.norm = &weights.norm, .bias = weights.qkv_bias ? &weights.qkv_bias : nullptr});
  const Tensor o = pass.by_timeline(
      p,
      [&](const Pass& own, Tensor rows) {
        return own->qk_norm_rope_store(rows, columns, weights.rope, own.positions(), own.memory<KvCache>(layer));
      },
      [&](const Pass& own, Tensor q) { return own->attention(q, own.memory<KvCache>(layer), shape); });
  Linear out{.bias = weights.out_bias ? &weights.out_bias : nullptr, .add_to = x};
  if (weights.gated) {
    out.gate = pass->gate_columns(p, columns);
    out.gate_kind = Gate::sigmoid;
  }
  return pass->linear(o, *weights.out, out);
}

Tensor swiglu(Pass& pass, const Swiglu& weights, Tensor x, float scale) {
  const Tensor h = pass->gate_up(x, *weights.gate_up, &weights.norm);
  return pass->linear(h, *weights.down, {.scale = scale, .add_to = x});
}

std::vector<Rows> qkv_rows(const LayerNames& at, const Heads& heads, bool gated, const char* suffix) {
  const auto name = [&](const char* hf, const char* gguf) {
    return at(std::string(hf) + suffix, std::string(gguf) + suffix);
  };
  return {{name("self_attn.q_proj", "attn_q"), heads.query * heads.dim * (gated ? 2 : 1)},
          {name("self_attn.k_proj", "attn_k"), heads.kv * heads.dim},
          {name("self_attn.v_proj", "attn_v"), heads.kv * heads.dim}};
}

Swiglu bind_swiglu(Weights& weights, const LayerNames& at, int64_t hidden, int64_t width, Norm norm) {
  return {.norm = std::move(norm),
          .gate_up = weights.rows({{at("mlp.gate_proj.weight", "ffn_gate.weight"), width},
                                   {at("mlp.up_proj.weight", "ffn_up.weight"), width}},
                                  hidden),
          .down = weights.matrix(at("mlp.down_proj.weight", "ffn_down.weight"), hidden, width)};
}

}  // namespace longhand
