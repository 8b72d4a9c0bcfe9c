// Qwen3 dense (model-specs 4): Llama with an RMS norm on every query and key head before the rotary positions.
#include "architectures/blocks.h"
#include "architectures/decoder.h"
#include "architectures/registry.h"
#include "architectures/rope.h"

namespace longhand {

namespace {

class Qwen3 : public Decoder {
 public:
  Qwen3(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    SelfAttention attention;
    Swiglu mlp;
  };
  std::vector<Layer> layers_;
};

Tensor Qwen3::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = attend(pass, layer.attention, index, x);
  return swiglu(pass, layer.mlp, x);
}

Qwen3::Qwen3(const Config& config, Weights& weights) {
  const DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const int64_t width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"attention_bias", nullptr}, false);
  config.only({"use_sliding_window", nullptr}, false);
  if (config.broken()) return;
  const Rope rope = read_rope(config, weights, heads.dim);
  if (config.broken()) return;

  for (int64_t i = 0; i < shape.layers; ++i) {
    const LayerNames at = weights.layer(i);
    const auto norm = [&](const char* hf, const char* gguf, int64_t size) {
      return weights.norm(at(hf, gguf), size, shape.eps);
    };
    SelfAttention attention{.norm = norm("input_layernorm.weight", "attn_norm.weight", shape.hidden),
                            .heads = heads,
                            .qk_norm = true,
                            .q_norm = norm("self_attn.q_norm.weight", "attn_q_norm.weight", heads.dim),
                            .k_norm = norm("self_attn.k_norm.weight", "attn_k_norm.weight", heads.dim),
                            .rope = rope};
    attention.qkv = weights.rows(qkv_rows(at, heads, false, ".weight"), shape.hidden);
    attention.out =
        weights.matrix(at("self_attn.o_proj.weight", "attn_output.weight"), shape.hidden, heads.query * heads.dim);
    layers_.push_back(
        {std::move(attention), bind_swiglu(weights, at, shape.hidden, width,
                                           norm("post_attention_layernorm.weight", "ffn_norm.weight", shape.hidden))});
    facts.layers.push_back({LayerKind::attention, false, {KvCacheLayout{heads.kv, heads.dim}}});
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", "output_norm.weight"));
}

}  // namespace

std::unique_ptr<Architecture> make_qwen3(const Config& config, Weights& weights) {
  return std::make_unique<Qwen3>(config, weights);
}

}  // namespace longhand
