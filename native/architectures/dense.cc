// Dense decoders: grouped-query attention with rotary positions, then SwiGLU. Llama 2 and 3, SmolLM2 and relatives,
// Qwen2, Qwen2.5 and Qwen3 differ only in what the table below says.
#include "architectures/registry.h"
#include "architectures/shared/blocks.h"
#include "architectures/shared/decoder.h"
#include "architectures/shared/rope.h"

namespace longhand {

namespace {

enum class Biases : uint8_t {
  none,
  qkv,        // on queries, keys and values
  by_config,  // on q, k, v and the output, if the checkpoint says so
};

struct Differences {
  Biases biases;
  bool qk_norm;           // an RMS norm on every query and key head before the rotary positions
  bool permuted_in_gguf;  // the converter reorders rows of q and k so that rotated pairs are adjacent
};
constexpr Differences llama{.biases = Biases::by_config, .qk_norm = false, .permuted_in_gguf = true};
constexpr Differences qwen2{.biases = Biases::qkv, .qk_norm = false, .permuted_in_gguf = false};
constexpr Differences qwen3{.biases = Biases::none, .qk_norm = true, .permuted_in_gguf = false};

class Dense : public Decoder {
 public:
  Dense(const Config& config, Weights& weights, const Differences& differences);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    SelfAttention attention;
    Swiglu mlp;
  };
  std::vector<Layer> layers_;
};

Tensor Dense::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = attend(pass, layer.attention, index, x);
  return swiglu(pass, layer.mlp, x);
}

// config.json has a flag for the bias; in GGUF the presence of the tensor tells.
Biases biases_in(const Config& config, const Weights& weights, Biases expected) {
  if (expected == Biases::none) config.only({"attention_bias", nullptr}, false);
  if (expected != Biases::by_config) return expected;
  const bool has =
      weights.gguf() ? weights.has("blk.0.attn_q.bias") : config.flag_or({"attention_bias", nullptr}, false);
  return has ? Biases::by_config : Biases::none;
}

Dense::Dense(const Config& config, Weights& weights, const Differences& differences) {
  const DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const int64_t width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  const int64_t rotary = config.integer_or({nullptr, "rope.dimension_count"}, heads.dim, width_range);
  const Biases biases = biases_in(config, weights, differences.biases);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"mlp_bias", nullptr}, false);
  config.only({"use_sliding_window", nullptr}, false);
  config.require(rotary <= heads.dim, "\"rope.dimension_count\" is larger than a head");
  if (config.broken()) return;
  const bool interleaved = weights.gguf() && differences.permuted_in_gguf;
  const Rope rope = read_rope(config, weights, rotary, interleaved ? Rope::Pairing::interleaved : Rope::Pairing::half);
  if (config.broken()) return;

  for (int64_t i = 0; i < shape.layers; ++i) {
    const LayerNames at = weights.layer(i);
    const auto norm = [&](const char* hf, const char* gguf, int64_t size) {
      return weights.norm(at(hf, gguf), size, shape.eps);
    };
    SelfAttention attention{
        .norm = norm("input_layernorm.weight", "attn_norm.weight", shape.hidden), .heads = heads, .rope = rope};
    attention.qkv = weights.rows(qkv_rows(at, heads, false, ".weight"), shape.hidden);
    attention.out =
        weights.matrix(at("self_attn.o_proj.weight", "attn_output.weight"), shape.hidden, heads.query * heads.dim);
    if (biases != Biases::none) attention.qkv_bias = weights.vectors(qkv_rows(at, heads, false, ".bias"));
    if (biases == Biases::by_config)
      attention.out_bias = weights.vector(at("self_attn.o_proj.bias", "attn_output.bias"), shape.hidden);
    if (differences.qk_norm) {
      attention.qk_norm = true;
      attention.q_norm = norm("self_attn.q_norm.weight", "attn_q_norm.weight", heads.dim);
      attention.k_norm = norm("self_attn.k_norm.weight", "attn_k_norm.weight", heads.dim);
    }
    layers_.push_back(
        {std::move(attention), bind_swiglu(weights, at, shape.hidden, width,
                                           norm("post_attention_layernorm.weight", "ffn_norm.weight", shape.hidden))});
    facts.layers.push_back({LayerKind::attention, false, {KvCacheLayout{heads.kv, heads.dim}}});
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", "output_norm.weight"));
}

}  // namespace

std::unique_ptr<Architecture> make_llama(const Config& config, Weights& weights) {
  return std::make_unique<Dense>(config, weights, llama);
}
std::unique_ptr<Architecture> make_qwen2(const Config& config, Weights& weights) {
  return std::make_unique<Dense>(config, weights, qwen2);
}
std::unique_ptr<Architecture> make_qwen3(const Config& config, Weights& weights) {
  return std::make_unique<Dense>(config, weights, qwen3);
}

}  // namespace longhand
