// Llama 2/3, SmolLM2 and relatives (model-specs 3): grouped-query attention with rotary positions, SwiGLU.
#include "architectures/blocks.h"
#include "architectures/decoder.h"
#include "architectures/registry.h"
#include "architectures/rope.h"

namespace longhand {

namespace {

class Llama : public Decoder {
 public:
  Llama(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    SelfAttention attention;
    Swiglu mlp;
  };
  std::vector<Layer> layers_;
};

Tensor Llama::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = attend(pass, layer.attention, index, x);
  return swiglu(pass, layer.mlp, x);
}

Llama::Llama(const Config& config, Weights& weights) {
  const DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const int64_t width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  const int64_t rotary = config.integer_or({nullptr, "rope.dimension_count"}, heads.dim, width_range);
  // GGUF says by its tensors what config.json says by a flag.
  const bool biases =
      weights.gguf() ? weights.has("blk.0.attn_q.bias") : config.flag_or({"attention_bias", nullptr}, false);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"mlp_bias", nullptr}, false);
  config.require(rotary <= heads.dim, "\"rope.dimension_count\" is larger than a head");
  if (config.broken()) return;
  // The GGUF converter permutes the rows of q and k so that pairs stand side by side (model-specs 2.2).
  const Rope rope =
      read_rope(config, weights, rotary, weights.gguf() ? Rope::Pairing::interleaved : Rope::Pairing::half);
  if (config.broken()) return;

  for (int64_t i = 0; i < shape.layers; ++i) {
    const LayerNames at = weights.layer(i);
    const auto norm = [&](const char* hf, const char* gguf) {
      return weights.norm(at(hf, gguf), shape.hidden, shape.eps);
    };
    SelfAttention attention{.norm = norm("input_layernorm.weight", "attn_norm.weight"), .heads = heads, .rope = rope};
    attention.qkv = weights.rows(qkv_rows(at, heads, false, ".weight"), shape.hidden);
    attention.out =
        weights.matrix(at("self_attn.o_proj.weight", "attn_output.weight"), shape.hidden, heads.query * heads.dim);
    if (biases) {
      attention.qkv_bias = weights.vectors(qkv_rows(at, heads, false, ".bias"));
      attention.out_bias = weights.vector(at("self_attn.o_proj.bias", "attn_output.bias"), shape.hidden);
    }
    layers_.push_back({std::move(attention), bind_swiglu(weights, at, shape.hidden, width,
                                                         norm("post_attention_layernorm.weight", "ffn_norm.weight"))});
    facts.layers.push_back({LayerKind::attention, false, {KvCacheLayout{heads.kv, heads.dim}}});
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", "output_norm.weight"));
}

}  // namespace

std::unique_ptr<Architecture> make_llama(const Config& config, Weights& weights) {
  return std::make_unique<Llama>(config, weights);
}

}  // namespace longhand
