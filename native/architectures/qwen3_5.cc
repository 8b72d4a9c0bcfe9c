// Qwen3.5 dense and mixture of experts, Qwen3-Next (modeling_qwen3_5.py, modeling_qwen3_5_moe.py): three gated-delta
// layers, then one gated-attention layer, each followed by SwiGLU or by experts; optionally a drafting head (vLLM,
// qwen3_5_mtp.py).
#include "architectures/registry.h"
#include "architectures/shared/blocks.h"
#include "architectures/shared/decoder.h"
#include "architectures/shared/gated_delta.h"
#include "architectures/shared/moe.h"
#include "architectures/shared/rope.h"
#include "architectures/vision/qwen3_5_vision.h"
#include "formats/utf8.h"

namespace longhand {

namespace {

struct Shape {
  DecoderShape decoder;
  Heads heads;
  GatedDelta delta;
  bool experts = false;
  ExpertShape expert;
  int64_t width = 0;         // of the dense MLP
  int64_t shared_width = 0;  // of the shared expert
  bool add_one = false;      // the file stores w where the norms compute with 1 + w
};

struct Mlp {
  bool experts = false;
  Swiglu dense;
  ExpertMlp mixture;
};

struct Layer {
  bool full_attention = false;
  SelfAttention attention;
  DeltaMixer delta;
  Mlp mlp;
};

Tensor feed_forward(Pass& pass, const Mlp& mlp, Tensor x) {
  return mlp.experts ? mix_experts(pass, mlp.mixture, x) : swiglu(pass, mlp.dense, x);
}

// Multi-token prediction: computes the next token's hidden state from that token's embedding and the current hidden
// state.
class Mtp : public Drafter {
 public:
  Mtp(Weights& weights, const Shape& shape, const Rope& rope, const Decoder& decoder);
  const LayerFacts& layer() const override { return facts_; }
  Tensor draft(Pass& pass, std::span<const int32_t> next, Tensor hidden) const override;

 private:
  const Decoder& decoder_;
  LayerFacts facts_;
  Norm embed_norm_, hidden_norm_, norm_;
  WeightPtr fc_;
  SelfAttention attention_;
  Mlp mlp_;
};

class Qwen35 : public Decoder {
 public:
  Qwen35(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;
  const Drafter* drafter() const override { return mtp_.get(); }
  Vision* vision() const override { return vision_.get(); }

 private:
  std::vector<Layer> layers_;
  std::unique_ptr<Mtp> mtp_;
  std::unique_ptr<Vision> vision_;
};

// x is the residual stream, [tokens, hidden].
Tensor Qwen35::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = layer.full_attention ? attend(pass, layer.attention, index, x) : mix_delta(pass, layer.delta, index, x);
  return feed_forward(pass, layer.mlp, x);
}

// The embedding half comes first, and `hidden` is taken after the final norm (vLLM, qwen3_5_mtp.py).
Tensor Mtp::draft(Pass& pass, std::span<const int32_t> next, Tensor hidden) const {
  const Tensor e = pass->rms_norm(decoder_.embed(pass, next), embed_norm_);
  const Tensor h = pass->rms_norm(hidden, hidden_norm_);
  Tensor x = pass->linear(pass->concat(e, h), *fc_);
  x = attend(pass, attention_, 0, x);
  x = feed_forward(pass, mlp_, x);
  return pass->rms_norm(x, norm_);
}

// ---- configuration ------------------------------------------------------------------------------------------------

// Attention layers: an explicit list, or every n-th layer.
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
    config.require(full[i] || types[i] == "linear_attention", "\"layer_types\" holds \"" + printable(types[i]) +
                                                                  "\", expected linear_attention or full_attention");
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

// Which rotary frequencies encode the row and the column of a picture patch (modeling_qwen3_5.py); a text token has the
// same position on all axes.
void read_sections(const Config& config, Rope& rope) {
  constexpr Key key{"rope_parameters.mrope_section", "rope.dimension_sections"};
  constexpr Key old{"rope_scaling.mrope_section", nullptr};
  const std::vector<int64_t> sections = config.integers(config.has(key) || config.gguf() ? key : old);
  int64_t sum = 0;
  for (const int64_t each : sections) sum += std::clamp<int64_t>(each, 0, 1 << 20);
  config.require(sections.size() >= 3 && sum == rope.rotary_dim / 2,
                 "\"mrope_section\" adds up to " + std::to_string(sum) + ", the rotated part of a head has " +
                     std::to_string(rope.rotary_dim / 2) + " frequencies");
  for (size_t i = 0; i < 3 && !config.broken(); ++i) rope.sections[i] = static_cast<int>(sections[i]);
}

Shape read(const Config& config, const Weights& weights) {
  Shape shape;
  shape.decoder = read_shape(config, weights);
  shape.heads = read_heads(config, shape.decoder.hidden);
  shape.delta = read_delta(config, weights);
  // GGUF counts the drafting block as a layer.
  const int64_t drafting = config.integer_or({nullptr, "nextn_predict_layers"}, 0, {0, 1});
  shape.decoder.layers = std::max<int64_t>(shape.decoder.layers - drafting, 1);
  shape.experts = config.has({"num_experts", "expert_count"});
  if (shape.experts) {
    const Key shared{"shared_expert_intermediate_size", "expert_shared_feed_forward_length"};
    shape.expert = read_experts(config);
    // Older GGUF files leave the width out; it equals that of the experts in every published model.
    shape.shared_width = config.gguf() ? config.integer_or(shared, shape.expert.width, width_range)
                                       : config.integer(shared, width_range);
    config.only({"norm_topk_prob", nullptr}, true);
    config.require(
        config.integer_or({"decoder_sparse_step", nullptr}, 1, layer_range) == 1 &&
            config.numbers({"mlp_only_layers", nullptr}).empty(),
        "\"decoder_sparse_step\" and \"mlp_only_layers\" ask for dense layers; every layer must have experts");
  } else {
    shape.width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  }
  shape.add_one = norms_are_raw(weights);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"attention_bias", nullptr}, false);
  config.only({"attn_output_gate", nullptr}, true);
  return shape;
}

// ---- weights ------------------------------------------------------------------------------------------------------

Mlp bind_mlp(Weights& weights, const LayerNames& at, const Shape& shape, Norm norm) {
  const int64_t hidden = shape.decoder.hidden, shared = shape.shared_width;
  Mlp out{.experts = shape.experts};
  if (!shape.experts) {
    out.dense = bind_swiglu(weights, at, hidden, shape.width, std::move(norm));
    return out;
  }
  ExpertMlp& mixture = out.mixture;
  mixture =
      bind_experts(weights, at, {"mlp", "gate_proj", "up_proj", "down_proj"}, shape.expert, hidden, std::move(norm));
  mixture.shared_gate_up = weights.rows({{at("mlp.shared_expert.gate_proj.weight", "ffn_gate_shexp.weight"), shared},
                                         {at("mlp.shared_expert.up_proj.weight", "ffn_up_shexp.weight"), shared}},
                                        hidden);
  mixture.shared_down =
      weights.matrix(at("mlp.shared_expert.down_proj.weight", "ffn_down_shexp.weight"), hidden, shared);
  mixture.shared_gate = weights.matrix(at("mlp.shared_expert_gate.weight", "ffn_gate_inp_shexp.weight"), 1, hidden);
  return out;
}

SelfAttention bind_attention(Weights& weights, const LayerNames& at, const Shape& shape, const Rope& rope, Norm norm) {
  const auto head_norm = [&](const char* hf, const char* gguf) {
    return weights.norm(at(hf, gguf), shape.heads.dim, shape.decoder.eps, shape.add_one);
  };
  return {.norm = std::move(norm),
          .qkv = weights.rows(qkv_rows(at, shape.heads, true, ".weight"), shape.decoder.hidden),
          .out = weights.matrix(at("self_attn.o_proj.weight", "attn_output.weight"), shape.decoder.hidden,
                                shape.heads.query * shape.heads.dim),
          .heads = shape.heads,
          .gated = true,
          .qk_norm = true,
          .q_norm = head_norm("self_attn.q_norm.weight", "attn_q_norm.weight"),
          .k_norm = head_norm("self_attn.k_norm.weight", "attn_k_norm.weight"),
          .rope = rope};
}

Norm bind_norm(Weights& weights, const LayerNames& at, const Shape& shape, const char* hf, const char* gguf) {
  return weights.norm(at(hf, gguf), shape.decoder.hidden, shape.decoder.eps, shape.add_one);
}

LayerNames mtp_names(const Weights& weights, const Shape& shape) {
  return weights.gguf() ? weights.layer(shape.decoder.layers) : LayerNames{"mtp.", false};
}

Mtp::Mtp(Weights& weights, const Shape& shape, const Rope& rope, const Decoder& decoder)
    : decoder_(decoder), facts_{LayerKind::attention, shape.experts, {KvCacheLayout{shape.heads.kv, shape.heads.dim}}} {
  const LayerNames head = mtp_names(weights, shape);
  const LayerNames at = weights.gguf() ? head : LayerNames{"mtp.layers.0.", false};
  embed_norm_ = bind_norm(weights, head, shape, "pre_fc_norm_embedding.weight", "nextn.enorm.weight");
  hidden_norm_ = bind_norm(weights, head, shape, "pre_fc_norm_hidden.weight", "nextn.hnorm.weight");
  norm_ = bind_norm(weights, head, shape, "norm.weight", "nextn.shared_head_norm.weight");
  fc_ = weights.matrix(head("fc.weight", "nextn.eh_proj.weight"), shape.decoder.hidden, 2 * shape.decoder.hidden);
  attention_ = bind_attention(weights, at, shape, rope,
                              bind_norm(weights, at, shape, "input_layernorm.weight", "attn_norm.weight"));
  mlp_ = bind_mlp(weights, at, shape,
                  bind_norm(weights, at, shape, "post_attention_layernorm.weight", "post_attention_norm.weight"));
  // Some GGUF files repeat the embedding and the output matrix for the head: they are shared here.
  if (weights.gguf()) {
    weights.leave_out((head.prefix + "nextn.embed_tokens").c_str(), "the drafting head shares the model's embedding");
    weights.leave_out((head.prefix + "nextn.shared_head_head").c_str(),
                      "the drafting head shares the model's output matrix");
  }
}

Qwen35::Qwen35(const Config& config, Weights& weights) {
  const Shape shape = read(config, weights);
  const std::vector<bool> full = read_attention_layers(config, shape.decoder.layers);
  const int64_t rotary = read_rotary(config, shape.heads.dim);
  if (config.broken()) return;
  Rope rope = read_rope(config, weights, rotary);
  vision_ = make_qwen3_5_vision(config, weights, shape.decoder.hidden);
  if (vision_) read_sections(config, rope);
  if (config.broken()) return;

  for (int64_t i = 0; i < shape.decoder.layers; ++i) {
    const LayerNames at = weights.layer(i);
    Layer layer{.full_attention = full[static_cast<size_t>(i)]};
    Norm norm = bind_norm(weights, at, shape, "input_layernorm.weight", "attn_norm.weight");
    if (layer.full_attention) {
      layer.attention = bind_attention(weights, at, shape, rope, std::move(norm));
      facts.layers.push_back({LayerKind::attention, shape.experts, {KvCacheLayout{shape.heads.kv, shape.heads.dim}}});
    } else {
      layer.delta = bind_delta(weights, at, shape.delta, shape.decoder.hidden, shape.decoder.eps, std::move(norm));
      facts.layers.push_back({LayerKind::gated_delta, shape.experts, delta_memory(shape.delta)});
    }
    layer.mlp =
        bind_mlp(weights, at, shape,
                 bind_norm(weights, at, shape, "post_attention_layernorm.weight", "post_attention_norm.weight"));
    layers_.push_back(std::move(layer));
  }
  bind_ends(weights, config, shape.decoder, weights.top("norm.weight", "output_norm.weight"), shape.add_one);
  if (weights.has(mtp_names(weights, shape)("fc.weight", "nextn.eh_proj.weight"))) {
    mtp_ = std::make_unique<Mtp>(weights, shape, rope, *this);
  }
  if (vision_) return;
  weights.leave_out("model.visual.", "the vision tower is not loaded");
  weights.leave_out("vision_tower.", "the vision tower is not loaded");
}

}  // namespace

std::unique_ptr<Architecture> make_qwen3_5(const Config& config, Weights& weights) {
  return std::make_unique<Qwen35>(config, weights);
}

}  // namespace longhand
