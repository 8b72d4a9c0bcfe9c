// Qwen2 and Qwen2.5: Llama with biases on queries, keys and values. GGUF files keep the rows as they are (no
// permutation).
#include "architectures/blocks.h"
#include "architectures/decoder.h"
#include "architectures/registry.h"
#include "architectures/rope.h"

namespace longhand {

namespace {

class Qwen2 : public Decoder {
 public:
  Qwen2(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    SelfAttention attention;
    Swiglu mlp;
  };
  std::vector<Layer> layers_;
};

Tensor Qwen2::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = attend(pass, layer.attention, index, x);
  return swiglu(pass, layer.mlp, x);
}

Qwen2::Qwen2(const Config& config, Weights& weights) {
  const DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const int64_t width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"use_sliding_window", nullptr}, false);
  if (config.broken()) return;
  const Rope rope = read_rope(config, weights, heads.dim);
  if (config.broken()) return;

  for (int64_t i = 0; i < shape.layers; ++i) {
    const LayerNames at = weights.layer(i);
    const auto norm = [&](const char* hf, const char* gguf) {
      return weights.norm(at(hf, gguf), shape.hidden, shape.eps);
    };
    SelfAttention attention{.norm = norm("input_layernorm.weight", "attn_norm.weight"), .heads = heads, .rope = rope};
    attention.qkv = weights.rows(qkv_rows(at, heads, false, ".weight"), shape.hidden);
    attention.qkv_bias = weights.vectors(qkv_rows(at, heads, false, ".bias"));
    attention.out =
        weights.matrix(at("self_attn.o_proj.weight", "attn_output.weight"), shape.hidden, heads.query * heads.dim);
    layers_.push_back({std::move(attention), bind_swiglu(weights, at, shape.hidden, width,
                                                         norm("post_attention_layernorm.weight", "ffn_norm.weight"))});
    facts.layers.push_back({LayerKind::attention, false, {KvCacheLayout{heads.kv, heads.dim}}});
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", "output_norm.weight"));
}

}  // namespace

std::unique_ptr<Architecture> make_qwen2(const Config& config, Weights& weights) {
  return std::make_unique<Qwen2>(config, weights);
}

}  // namespace longhand
