// Qwen3.5, dense (model-specs 5): three gated-delta layers, then one gated-attention layer, each followed by SwiGLU.
#include <cmath>

#include "architectures/blocks.h"
#include "architectures/decoder.h"
#include "architectures/registry.h"
#include "architectures/rope.h"

namespace longhand {

namespace {

struct DeltaLayer {
  Norm norm;
  WeightPtr in_proj;  // q | k | v | z | b | a by rows
  GatedDelta delta;
  WeightPtr out_proj;
};

class Qwen35 : public Decoder {
 public:
  Qwen35(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    bool full_attention = false;
    SelfAttention attention;
    DeltaLayer delta;
    Swiglu mlp;
  };
  std::vector<Layer> layers_;
};

// Gated DeltaNet (arXiv 2412.06464; model-specs 5.5). State per value head: S [key_dim, value_dim], fp32.
Tensor gated_delta(Pass& pass, const DeltaLayer& weights, size_t layer, Tensor x) {
  const Tensor p = pass->linear(x, *weights.in_proj, {.norm = &weights.norm});
  const Tensor o =
      pass->gated_delta(p, weights.delta, pass.memory<ConvState>(layer), pass.memory<RecurrentState>(layer));
  return pass->linear(o, *weights.out_proj, {.add_to = x});
}

// x is the residual stream, [tokens, hidden].
Tensor Qwen35::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = layer.full_attention ? attend(pass, layer.attention, index, x) : gated_delta(pass, layer.delta, index, x);
  return swiglu(pass, layer.mlp, x);
}

// ---- configuration ------------------------------------------------------------------------------------------------

GatedDelta read_delta(const Config& config) {
  GatedDelta delta;
  delta.key_heads = config.integer({"linear_num_key_heads", "ssm.group_count"}, count_range);
  delta.value_heads = config.integer({"linear_num_value_heads", "ssm.time_step_rank"}, count_range);
  delta.key_dim = config.integer({"linear_key_head_dim", "ssm.state_size"}, width_range);
  delta.conv_width = config.integer({"linear_conv_kernel_dim", "ssm.conv_kernel"}, {2, 16});
  if (config.gguf()) {
    const int64_t inner = config.integer({nullptr, "ssm.inner_size"}, width_range);
    config.require(inner % delta.value_heads == 0, "\"ssm.inner_size\" cannot be divided by \"ssm.time_step_rank\"");
    delta.value_dim = std::max<int64_t>(inner / delta.value_heads, 1);
    delta.head_map = GatedDelta::HeadMap::tiled;
  } else {
    delta.value_dim = config.integer({"linear_value_head_dim", nullptr}, width_range);
  }
  config.require(delta.value_heads % delta.key_heads == 0,
                 std::to_string(delta.value_heads) + " value heads cannot share " + std::to_string(delta.key_heads) +
                     " key heads (\"linear_num_key_heads\")");
  return delta;
}

// Which layers attend: a list, or every n-th one.
std::vector<bool> read_attention_layers(const Config& config, int64_t layers) {
  std::vector<bool> full(static_cast<size_t>(layers));
  const std::vector<std::string> types = config.texts({"layer_types", nullptr});
  const int64_t interval = config.integer_or({"full_attention_interval", "full_attention_interval"}, 4, layer_range);
  config.require(types.empty() || types.size() == full.size(), "\"layer_types\" has " + std::to_string(types.size()) +
                                                                   " entries, the model " + std::to_string(layers) +
                                                                   " layers");
  if (config.broken()) return full;
  for (size_t i = 0; i < full.size(); ++i) full[i] = (static_cast<int64_t>(i) + 1) % interval == 0;
  for (size_t i = 0; i < types.size(); ++i) {
    full[i] = types[i] == "full_attention";
    config.require(full[i] || types[i] == "linear_attention",
                   "\"layer_types\" holds \"" + types[i] + "\", allowed are linear_attention and full_attention");
  }
  return full;
}

int64_t read_rotary(const Config& config, int64_t head_dim) {
  if (config.gguf()) return config.integer({nullptr, "rope.dimension_count"}, {2, static_cast<double>(head_dim)});
  const Key key{config.find_path("rope_parameters.partial_rotary_factor") ? "rope_parameters.partial_rotary_factor"
                                                                          : "partial_rotary_factor",
                nullptr};
  return static_cast<int64_t>(static_cast<double>(head_dim) * config.number_or(key, 0.25, {1e-3, 1.0}));
}

// Published files store w for the norms that compute with 1 + w; conversions for MLX store 1 + w and move the kernel
// axis of the convolutions. The layout decides, never the values (model-specs 17.2).
bool norms_are_raw(const Weights& weights) {
  if (weights.gguf()) return false;
  for (const WeightView& tensor : weights.checkpoint().tensors()) {
    if (tensor.name.ends_with("linear_attn.conv1d.weight")) return tensor.shape.back() != 1;
  }
  return true;
}

// ---- weights ------------------------------------------------------------------------------------------------------

DeltaLayer bind_delta(Weights& weights, int64_t layer, GatedDelta delta, int64_t hidden, double eps, Norm norm) {
  const auto name = [&](const char* hf, const char* gguf) { return weights.in_layer(layer, hf, gguf); };
  const int64_t values = delta.value_heads * delta.value_dim;
  delta.conv = weights.taps(name("linear_attn.conv1d.weight", "ssm_conv1d.weight"), delta.channels(), delta.conv_width);
  std::vector<float> decay = weights.floats(name("linear_attn.A_log", "ssm_a"), delta.value_heads);
  // GGUF holds -exp(A_log) already.
  if (!weights.gguf()) {
    for (float& value : decay) value = -std::exp(value);
  }
  delta.decay = weights.constant(decay);
  delta.dt_bias = weights.vector(name("linear_attn.dt_bias", "ssm_dt.bias"), delta.value_heads);
  delta.norm = weights.norm(name("linear_attn.norm.weight", "ssm_norm.weight"), delta.value_dim, eps);
  DeltaLayer out{.norm = std::move(norm)};
  out.in_proj = weights.rows({{name("linear_attn.in_proj_qkv.weight", "attn_qkv.weight"), delta.channels()},
                              {name("linear_attn.in_proj_z.weight", "attn_gate.weight"), values},
                              {name("linear_attn.in_proj_b.weight", "ssm_beta.weight"), delta.value_heads},
                              {name("linear_attn.in_proj_a.weight", "ssm_alpha.weight"), delta.value_heads}},
                             hidden);
  out.out_proj = weights.matrix(name("linear_attn.out_proj.weight", "ssm_out.weight"), hidden, values);
  out.delta = std::move(delta);
  return out;
}

Qwen35::Qwen35(const Config& config, Weights& weights) {
  DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const GatedDelta delta = read_delta(config);
  const int64_t width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  // GGUF counts the drafting block (model-specs 9) as a layer.
  const int64_t drafting = config.integer_or({nullptr, "nextn_predict_layers"}, 0, {0, 1});
  shape.layers = std::max<int64_t>(shape.layers - drafting, 1);
  const std::vector<bool> full = read_attention_layers(config, shape.layers);
  const int64_t rotary = read_rotary(config, heads.dim);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"attention_bias", nullptr}, false);
  config.only({"attn_output_gate", nullptr}, true);
  if (config.broken()) return;
  const Rope rope = read_rope(config, weights, rotary);
  if (config.broken()) return;

  const bool add_one = norms_are_raw(weights);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const auto norm = [&](const char* hf, const char* gguf, int64_t size) {
      return weights.norm(weights.in_layer(i, hf, gguf), size, shape.eps, add_one);
    };
    Layer layer{.full_attention = full[static_cast<size_t>(i)]};
    Norm input = norm("input_layernorm.weight", "attn_norm.weight", shape.hidden);
    if (layer.full_attention) {
      layer.attention = {.norm = std::move(input),
                         .qkv = weights.rows(qkv_rows(weights, i, heads, true, ".weight"), shape.hidden),
                         .out = weights.matrix(weights.in_layer(i, "self_attn.o_proj.weight", "attn_output.weight"),
                                               shape.hidden, heads.query * heads.dim),
                         .heads = heads,
                         .gated = true,
                         .qk_norm = true,
                         .q_norm = norm("self_attn.q_norm.weight", "attn_q_norm.weight", heads.dim),
                         .k_norm = norm("self_attn.k_norm.weight", "attn_k_norm.weight", heads.dim),
                         .rope = rope};
      facts.layers.push_back({LayerKind::attention, false, {KvCacheLayout{heads.kv, heads.dim}}});
    } else {
      layer.delta = bind_delta(weights, i, delta, shape.hidden, shape.eps, std::move(input));
      facts.layers.push_back({LayerKind::gated_delta,
                              false,
                              {ConvStateLayout{delta.channels(), delta.conv_width},
                               RecurrentStateLayout{delta.value_heads, delta.key_dim, delta.value_dim}}});
    }
    layer.mlp = bind_swiglu(weights, i, shape.hidden, width,
                            norm("post_attention_layernorm.weight", "post_attention_norm.weight", shape.hidden));
    layers_.push_back(std::move(layer));
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", "output_norm.weight"), add_one);
  weights.leave_out("model.visual.", "the vision tower is not loaded");
  weights.leave_out("vision_tower.", "the vision tower is not loaded");
  weights.leave_out("mtp.", "the drafting head (MTP) is not loaded");
  weights.leave_out(("blk." + std::to_string(shape.layers) + ".").c_str(), "the drafting head (MTP) is not loaded");
}

}  // namespace

std::unique_ptr<Family> make_qwen3_5(const Config& config, Weights& weights) {
  return std::make_unique<Qwen35>(config, weights);
}

}  // namespace longhand
