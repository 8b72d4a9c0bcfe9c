// LFM2 and LFM2 MoE (modeling_lfm2.py): gated short convolutions interleaved with attention layers, each followed by
// SwiGLU or experts.
#include <algorithm>
#include <cmath>

#include "architectures/registry.h"
#include "architectures/shared/blocks.h"
#include "architectures/shared/decoder.h"
#include "architectures/shared/moe.h"
#include "architectures/shared/rope.h"
#include "formats/utf8.h"

namespace longhand {

namespace {

struct ConvMixer {
  Norm norm;
  WeightPtr in_proj;  // rows: B | C | X
  ShortConv conv;
  WeightPtr out_proj;
};

class Lfm2 : public Decoder {
 public:
  Lfm2(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    bool full_attention = false;
    SelfAttention attention;
    ConvMixer conv;
    bool experts = false;
    Swiglu mlp;
    ExpertMlp mixture;
  };
  std::vector<Layer> layers_;
};

// x += out(C * conv(B * X)). The state holds B * X of the last tokens.
Tensor mix_conv(Pass& pass, const ConvMixer& weights, size_t layer, Tensor x) {
  const Tensor p = pass->linear(x, *weights.in_proj, {.norm = &weights.norm});
  const Tensor y = pass.by_timeline(p, [&](const Pass& own, Tensor rows) {
    return own->short_conv(rows, weights.conv, own.memory<ConvState>(layer));
  });
  return pass->linear(y, *weights.out_proj, {.add_to = x});
}

Tensor Lfm2::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = layer.full_attention ? attend(pass, layer.attention, index, x) : mix_conv(pass, layer.conv, index, x);
  return layer.experts ? mix_experts(pass, layer.mixture, x) : swiglu(pass, layer.mlp, x);
}

// ---- configuration ------------------------------------------------------------------------------------------------

struct Shape {
  DecoderShape decoder;
  Heads heads;
  int64_t conv_width = 3;
  std::vector<bool> attention;  // a layer
  bool mixture = false;
  ExpertShape expert;
  int64_t dense_layers = 0;     // dense layers before the first layer with experts
  std::vector<int64_t> widths;  // width of the dense MLP: as configured, and as adjusted
};

// GGUF lists the key-value heads of each layer, 0 for convolution layers. config.json lists layer types or the indices
// of attention layers.
std::vector<bool> read_attention_layers(const Config& config, int64_t layers, const std::vector<int64_t>& kv_heads) {
  std::vector<bool> attention(static_cast<size_t>(layers));
  const auto expect = [&](const char* key, size_t size) {
    config.require(size == attention.size(), "\"" + std::string(key) + "\" has " + std::to_string(size) +
                                                 " entries, the model " + std::to_string(layers) + " layers");
    return size == attention.size();
  };
  if (config.gguf()) {
    if (!expect("attention.head_count_kv", kv_heads.size())) return attention;
    for (size_t i = 0; i < attention.size(); ++i) attention[i] = kv_heads[i] > 0;
    return attention;
  }
  const std::vector<std::string> types = config.texts({"layer_types", nullptr});
  if (!types.empty()) {
    if (!expect("layer_types", types.size())) return attention;
    for (size_t i = 0; i < types.size(); ++i) {
      attention[i] = types[i] == "full_attention";
      config.require(attention[i] || types[i] == "conv",
                     "\"layer_types\" holds \"" + printable(types[i]) + "\", expected conv or full_attention");
    }
    return attention;
  }
  const std::vector<int64_t> indices = config.integers({"full_attn_idxs", nullptr});
  config.require(!indices.empty(), "\"layer_types\" and \"full_attn_idxs\" are missing");
  for (const int64_t index : indices) {
    config.require(index >= 0 && index < layers, "\"full_attn_idxs\" holds " + std::to_string(index) +
                                                     ", the model has " + std::to_string(layers) + " layers");
    if (index >= 0 && index < layers) attention[static_cast<size_t>(index)] = true;
  }
  return attention;
}

// A configured width of 12288 may mean 8192: two thirds of it, rounded up to a multiple (modeling_lfm2.py). Newer files
// already hold the adjusted number, so both are allowed and the tensors decide.
std::vector<int64_t> read_widths(const Config& config) {
  const Key key{config.has({"block_ff_dim", nullptr}) ? "block_ff_dim" : "intermediate_size", "feed_forward_length"};
  const int64_t width = config.integer(key, width_range);
  if (!config.flag_or({"block_auto_adjust_ff_dim", nullptr}, true)) return {width};
  const int64_t multiple = config.integer_or({"block_multiple_of", nullptr}, 256, width_range);
  const double factor = config.number_or({"block_ffn_dim_multiplier", nullptr}, 1.0, {1e-3, 1e3});
  const auto scaled = static_cast<int64_t>(factor * static_cast<double>(2 * width / 3));
  return {width, (scaled + multiple - 1) / multiple * multiple};
}

Shape read(const Config& config, const Weights& weights) {
  Shape shape;
  shape.decoder = read_shape(config, weights, "norm_eps");
  if (!config.has({"tie_word_embeddings", nullptr}) && !config.has({"tie_embedding", nullptr}))
    shape.decoder.tied = true;
  const std::vector<int64_t> kv_heads = config.integers({"num_key_value_heads", "attention.head_count_kv"});
  shape.heads.query = config.integer({"num_attention_heads", "attention.head_count"}, count_range);
  shape.heads.kv = kv_heads.empty() ? shape.heads.query : *std::ranges::max_element(kv_heads);
  config.require(shape.heads.kv >= 1 && shape.heads.query % std::max<int64_t>(shape.heads.kv, 1) == 0,
                 "\"num_key_value_heads\" is " + std::to_string(shape.heads.kv) + ", expected a divisor of " +
                     std::to_string(shape.heads.query));
  config.require(shape.decoder.hidden % shape.heads.query == 0,
                 "\"hidden_size\" cannot be divided by the attention heads");
  shape.heads.dim = config.integer_or({"head_dim", "attention.key_length"},
                                      std::max<int64_t>(shape.decoder.hidden / shape.heads.query, 1), width_range);
  shape.conv_width = config.integer({"conv_L_cache", "shortconv.l_cache"}, {2, 16});
  config.only({"conv_bias", nullptr}, false);
  shape.attention = read_attention_layers(config, shape.decoder.layers, kv_heads);
  shape.mixture = config.has({"num_experts", "expert_count"});
  if (shape.mixture) {
    shape.expert = read_experts(config);
    shape.dense_layers = config.integer_or({"num_dense_layers", "leading_dense_block_count"}, 0, {0, 1024});
    shape.widths = {config.integer({"intermediate_size", "feed_forward_length"}, width_range)};
  } else {
    shape.widths = read_widths(config);
  }
  return shape;
}

// ---- weights ------------------------------------------------------------------------------------------------------

Norm bind_norm(Weights& weights, const LayerNames& at, const Shape& shape, const char* hf, const char* gguf,
               int64_t size) {
  return weights.norm(at(hf, gguf), size, shape.decoder.eps);
}

SelfAttention bind_attention(Weights& weights, const LayerNames& at, const Shape& shape, const Rope& rope, Norm norm) {
  return {
      .norm = std::move(norm),
      .qkv = weights.rows(qkv_rows(at, shape.heads, false, ".weight"), shape.decoder.hidden),
      .out = weights.matrix(at("self_attn.out_proj.weight", "attn_output.weight"), shape.decoder.hidden,
                            shape.heads.query * shape.heads.dim),
      .heads = shape.heads,
      .qk_norm = true,
      .q_norm = bind_norm(weights, at, shape, "self_attn.q_layernorm.weight", "attn_q_norm.weight", shape.heads.dim),
      .k_norm = bind_norm(weights, at, shape, "self_attn.k_layernorm.weight", "attn_k_norm.weight", shape.heads.dim),
      .rope = rope};
}

ConvMixer bind_conv(Weights& weights, const LayerNames& at, const Shape& shape, Norm norm) {
  const int64_t hidden = shape.decoder.hidden;
  return {.norm = std::move(norm),
          .in_proj = weights.matrix(at("conv.in_proj.weight", "shortconv.in_proj.weight"), 3 * hidden, hidden),
          .conv = {hidden, shape.conv_width,
                   weights.taps(at("conv.conv.weight", "shortconv.conv.weight"), hidden, shape.conv_width)},
          .out_proj = weights.matrix(at("conv.out_proj.weight", "shortconv.out_proj.weight"), hidden, hidden)};
}

// mlx-lm gives the matrices of LFM2 MoE the names that other families have.
struct DenseNames {
  std::string gate, up, down;
};
DenseNames dense_names(const Weights& weights, const LayerNames& at) {
  const std::string gate = at("feed_forward.gate_proj.weight", "ffn_gate.weight");
  if (weights.has(gate))
    return {gate, at("feed_forward.up_proj.weight", "ffn_up.weight"),
            at("feed_forward.down_proj.weight", "ffn_down.weight")};
  return {at("feed_forward.w1.weight", "ffn_gate.weight"), at("feed_forward.w3.weight", "ffn_up.weight"),
          at("feed_forward.w2.weight", "ffn_down.weight")};
}

Swiglu bind_dense(Weights& weights, const LayerNames& at, const Shape& shape, Norm norm) {
  const auto [gate, up, down] = dense_names(weights, at);
  const WeightView* view = weights.checkpoint().find(gate);
  const int64_t stored = view && !view->shape.empty() ? view->shape.front() : 0;
  const bool known = std::ranges::find(shape.widths, stored) != shape.widths.end();
  const int64_t width = known ? stored : shape.widths.back();
  return {.norm = std::move(norm),
          .gate_up = weights.rows({{gate, width}, {up, width}}, shape.decoder.hidden),
          .down = weights.matrix(down, shape.decoder.hidden, width)};
}

ExpertMlp bind_mixture(const Config& config, Weights& weights, const LayerNames& at, const Shape& shape, Norm norm) {
  ExpertMlp out = bind_experts(weights, at, {"feed_forward", "w1", "w3", "w2"}, shape.expert, shape.decoder.hidden,
                               std::move(norm));
  out.router.kind = Router::Kind::sigmoid_bias;
  out.router.renormalise = config.flag_or({"norm_topk_prob", "expert_weights_norm"}, true);
  out.router.renormalise_eps = 1e-6f;
  out.router.scale =
      static_cast<float>(config.number_or({"routed_scaling_factor", "expert_weights_scale"}, 1.0, positive_range));
  out.router.bias = config.flag_or({"use_expert_bias", nullptr}, true)
                        ? weights.vector(at("feed_forward.expert_bias", "exp_probs_b.bias"), shape.expert.experts)
                        : weights.constant(std::vector<float>(static_cast<size_t>(shape.expert.experts)));
  return out;
}

Lfm2::Lfm2(const Config& config, Weights& weights) {
  const Shape shape = read(config, weights);
  if (config.broken()) return;
  const Rope rope = read_rope(config, weights, shape.heads.dim);
  if (config.broken()) return;
  const int64_t hidden = shape.decoder.hidden;

  for (int64_t i = 0; i < shape.decoder.layers; ++i) {
    const LayerNames at = weights.layer(i);
    Layer layer{.full_attention = shape.attention[static_cast<size_t>(i)]};
    layer.experts = shape.mixture && i >= shape.dense_layers;
    Norm norm = bind_norm(weights, at, shape, "operator_norm.weight", "attn_norm.weight", hidden);
    if (layer.full_attention) {
      layer.attention = bind_attention(weights, at, shape, rope, std::move(norm));
      facts.layers.push_back({LayerKind::attention, layer.experts, {KvCacheLayout{shape.heads.kv, shape.heads.dim}}});
    } else {
      layer.conv = bind_conv(weights, at, shape, std::move(norm));
      facts.layers.push_back({LayerKind::short_conv, layer.experts, {ConvStateLayout{hidden, shape.conv_width}}});
    }
    Norm mlp_norm = bind_norm(weights, at, shape, "ffn_norm.weight", "ffn_norm.weight", hidden);
    if (layer.experts) {
      layer.mixture = bind_mixture(config, weights, at, shape, std::move(mlp_norm));
    } else {
      layer.mlp = bind_dense(weights, at, shape, std::move(mlp_norm));
    }
    layers_.push_back(std::move(layer));
  }
  // The final norm, despite its names; early GGUF files call it output_norm.
  const bool early = weights.gguf() && weights.has("output_norm.weight");
  bind_ends(weights, config, shape.decoder,
            early ? "output_norm.weight" : weights.top("embedding_norm.weight", "token_embd_norm.weight"));
}

}  // namespace

std::unique_ptr<Architecture> make_lfm2(const Config& config, Weights& weights) {
  return std::make_unique<Lfm2>(config, weights);
}

}  // namespace longhand
