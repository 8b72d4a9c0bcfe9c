// MiniCPM-SALA (modeling_minicpm_sala.py): lightning attention with rotary positions, block-sparse softmax attention
// without them (HyPE), muP scales on the embedding, on every residual and on the logits.
#include <cmath>

#include "architectures/registry.h"
#include "architectures/shared/blocks.h"
#include "architectures/shared/decoder.h"
#include "architectures/shared/rope.h"
#include "formats/utf8.h"

namespace longhand {

namespace {

struct Lightning {
  Norm norm;
  WeightPtr in_proj;  // rows: q | k | v | z
  Norm q_norm, k_norm, out_norm;
  Rope rope;
  Gla gla;
  WeightPtr out_proj;
};

struct Sparse {
  Norm norm;
  WeightPtr in_proj;  // rows: q | k | v | gate
  BlockSparse shape;
  WeightPtr out_proj;
};

class MiniCpmSala : public Decoder {
 public:
  MiniCpmSala(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    bool lightning = false;
    Lightning linear;
    Sparse sparse;
    Swiglu mlp;
  };
  Tensor mix_lightning(Pass& pass, const Lightning& weights, size_t index, Tensor x) const;
  Tensor mix_sparse(Pass& pass, const Sparse& weights, size_t index, Tensor x) const;

  std::vector<Layer> layers_;
  float residual_scale_ = 1.0f;
};

Tensor MiniCpmSala::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  x = layer.lightning ? mix_lightning(pass, layer.linear, index, x) : mix_sparse(pass, layer.sparse, index, x);
  return swiglu(pass, layer.mlp, x, residual_scale_);
}

// S <- exp(-s) S + k v^T; o = dim^-0.5 S^T q. o is normalised over all heads together, then gated, then projected.
Tensor MiniCpmSala::mix_lightning(Pass& pass, const Lightning& weights, size_t index, Tensor x) const {
  const int64_t width = weights.gla.heads * weights.gla.key_dim;
  const Qkv columns{.heads = {weights.gla.heads, weights.gla.heads, weights.gla.key_dim},
                    .q_norm = &weights.q_norm,
                    .k_norm = &weights.k_norm};
  const Tensor p = pass->linear(x, *weights.in_proj, {.norm = &weights.norm});
  pass->qk_norm_rope(p.columns(0, 3 * width), columns, weights.rope, pass.positions());
  const Tensor o = pass.by_timeline(p, [&](const Pass& own, Tensor rows) {
    return own->gla(rows.columns(0, width), rows.columns(width, width), rows.columns(2 * width, width), weights.gla,
                    own.memory<RecurrentState>(index));
  });
  return pass->linear(o, *weights.out_proj,
                      {.norm = &weights.out_norm,
                       .gate = p.columns(3 * width, width),
                       .gate_kind = Gate::sigmoid,
                       .scale = residual_scale_,
                       .add_to = x});
}

// InfLLM-v2 for prompts of dense_len tokens or more, plain causal attention for shorter ones. Compressed keys are
// computed when they are first needed.
Tensor MiniCpmSala::mix_sparse(Pass& pass, const Sparse& weights, size_t index, Tensor x) const {
  const Heads& heads = weights.shape.heads;
  const int64_t width = heads.query * heads.dim, packed = width + 2 * heads.kv * heads.dim;
  const Tensor p = pass->linear(x, *weights.in_proj, {.norm = &weights.norm});
  const Tensor o = pass.by_timeline(p.columns(0, packed), [&](const Pass& own, Tensor rows) {
    KvCache& cache = own.memory<KvCache>(index);
    const Tensor q = own->qk_norm_rope_store(rows, {.heads = heads}, {}, own.positions(), cache);
    if (own.total() < facts.sparse->dense_below) return own->attention(q, cache, {heads, weights.shape.scale});
    CompressedKeys& compressed = own.memory<CompressedKeys>(index);
    own->block_compress(cache, weights.shape, compressed);
    return own->block_attention(q, cache, weights.shape,
                                own->block_select(q, compressed, weights.shape, own.first(), own.total()));
  });
  return pass->linear(
      o, *weights.out_proj,
      {.gate = p.columns(packed, width), .gate_kind = Gate::sigmoid, .scale = residual_scale_, .add_to = x});
}

// ---- configuration ------------------------------------------------------------------------------------------------

// ALiBi slopes, the same in every layer (arXiv 2401.04658).
std::vector<float> slopes(int64_t heads) {
  const auto powers = [](int64_t n) {
    std::vector<double> out;
    for (int64_t h = 0; h < n; ++h)
      out.push_back(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(n)));
    return out;
  };
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> all = powers(power);
  const std::vector<double> finer = powers(2 * power);
  for (size_t i = 0; static_cast<int64_t>(all.size()) < heads; i += 2) all.push_back(finer[i]);
  return {all.begin(), all.end()};
}

BlockSparse read_sparse(const Config& config, const Heads& heads) {
  const auto field = [&](const char* path, double least, double most) {
    return config.integer({path, nullptr}, {least, most});
  };
  BlockSparse sparse;
  sparse.heads = heads;
  sparse.kernel = field("sparse_config.kernel_size", 1, 65536);
  sparse.stride = field("sparse_config.kernel_stride", 1, 65536);
  sparse.init_blocks = field("sparse_config.init_blocks", 0, 65536);
  sparse.block = field("sparse_config.block_size", 1, 65536);
  sparse.window = field("sparse_config.window_size", 1, 1 << 24);
  sparse.topk = field("sparse_config.topk", 1, 65536);
  sparse.scale = 1.0f / std::sqrt(static_cast<float>(heads.dim));
  config.require(sparse.kernel == 2 * sparse.stride, "\"sparse_config.kernel_size\" must be twice \"kernel_stride\"");
  config.require(sparse.block == 4 * sparse.stride,
                 "\"sparse_config.block_size\" must be four times \"kernel_stride\"");
  config.require(sparse.window % sparse.block == 0,
                 "\"sparse_config.window_size\" must be a multiple of \"block_size\"");
  config.only({"sparse_config.use_nope", nullptr}, false);
  return sparse;
}

std::vector<bool> read_lightning_layers(const Config& config, int64_t layers) {
  const std::vector<std::string> types = config.texts({"mixer_types", nullptr});
  std::vector<bool> lightning(static_cast<size_t>(layers));
  config.require(types.size() == lightning.size(), "\"mixer_types\" has " + std::to_string(types.size()) +
                                                       " entries, the model " + std::to_string(layers) + " layers");
  for (size_t i = 0; i < std::min(types.size(), lightning.size()); ++i) {
    lightning[i] = types[i] == "lightning-attn" || types[i] == "lightning";
    config.require(lightning[i] || types[i] == "minicpm4",
                   "\"mixer_types\" holds \"" + printable(types[i]) + "\", expected minicpm4 or lightning-attn");
  }
  return lightning;
}

// The published model's settings; any other value means a computation that is not implemented.
void check_switches(const Config& config, const Heads& heads) {
  for (const char* on :
       {"attn_use_output_gate", "lightning_use_rope", "qk_norm", "use_output_norm", "use_output_gate"}) {
    config.only({on, nullptr}, true);
  }
  for (const char* off : {"attn_use_rope", "attention_bias"}) config.only({off, nullptr}, false);
  config.only({"lightning_scale", nullptr}, "1/sqrt(d)");
  config.only({"hidden_act", nullptr}, "silu");
  // The published code uses the attention head count for both, so the two must be equal.
  for (const char* count : {"lightning_nh", "lightning_nkv"}) {
    config.require(config.integer_or({count, nullptr}, heads.query, count_range) == heads.query,
                   "\"" + std::string(count) + "\" differs from \"num_attention_heads\"");
  }
  config.require(config.integer_or({"lightning_head_dim", nullptr}, heads.dim, width_range) == heads.dim,
                 "\"lightning_head_dim\" differs from \"head_dim\"");
}

MiniCpmSala::MiniCpmSala(const Config& config, Weights& weights) {
  const DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const int64_t width = config.integer({"intermediate_size", nullptr}, width_range);
  const std::vector<bool> lightning = read_lightning_layers(config, shape.layers);
  const BlockSparse sparse = read_sparse(config, heads);
  const int64_t dense_len = config.integer({"sparse_config.dense_len", nullptr}, context_range);
  embed_scale_ = static_cast<float>(config.number({"scale_emb", nullptr}, positive_range));
  const double depth = config.number({"scale_depth", nullptr}, positive_range);
  const auto base = static_cast<double>(config.integer({"dim_model_base", nullptr}, width_range));
  check_switches(config, heads);
  if (config.broken()) return;
  const Rope rope = read_rope(config, weights, heads.dim);
  if (config.broken()) return;
  residual_scale_ = static_cast<float>(depth / std::sqrt(static_cast<double>(shape.layers)));
  logit_scale_ = static_cast<float>(base / static_cast<double>(shape.hidden));
  facts.sparse = SparseRule{dense_len, sparse.effective_topk() * sparse.block};

  const int64_t inner = heads.query * heads.dim, shared = heads.kv * heads.dim;
  const BufferPtr slope_table = weights.constant(slopes(heads.query));
  for (int64_t i = 0; i < shape.layers; ++i) {
    const LayerNames at = weights.layer(i);
    const auto norm = [&](const char* name, int64_t size) { return weights.norm(at(name, ""), size, shape.eps); };
    const auto stack = [&](int64_t keys, const char* gate) {
      return weights.rows({{at("self_attn.q_proj.weight", ""), inner},
                           {at("self_attn.k_proj.weight", ""), keys},
                           {at("self_attn.v_proj.weight", ""), keys},
                           {at(gate, ""), inner}},
                          shape.hidden);
    };
    Layer layer{.lightning = lightning[static_cast<size_t>(i)]};
    const WeightPtr out = weights.matrix(at("self_attn.o_proj.weight", ""), shape.hidden, inner);
    if (layer.lightning) {
      layer.linear = {.norm = norm("input_layernorm.weight", shape.hidden),
                      .in_proj = stack(inner, "self_attn.z_proj.weight"),
                      .q_norm = norm("self_attn.q_norm.weight", heads.dim),
                      .k_norm = norm("self_attn.k_norm.weight", heads.dim),
                      .out_norm = norm("self_attn.o_norm.weight", inner),
                      .rope = rope,
                      .gla = {heads.query, heads.dim, heads.dim, sparse.scale, slope_table},
                      .out_proj = out};
      facts.layers.push_back({LayerKind::lightning, false, {RecurrentStateLayout{heads.query, heads.dim, heads.dim}}});
    } else {
      layer.sparse = {norm("input_layernorm.weight", shape.hidden), stack(shared, "self_attn.o_gate.weight"), sparse,
                      out};
      facts.layers.push_back({LayerKind::sparse,
                              false,
                              {KvCacheLayout{heads.kv, heads.dim},
                               CompressedKeysLayout{heads.kv, heads.dim, sparse.kernel, sparse.stride}}});
    }
    layer.mlp = bind_swiglu(weights, at, shape.hidden, width, norm("post_attention_layernorm.weight", shape.hidden));
    layers_.push_back(std::move(layer));
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", ""));
}

}  // namespace

std::unique_ptr<Architecture> make_minicpm_sala(const Config& config, Weights& weights) {
  return std::make_unique<MiniCpmSala>(config, weights);
}

}  // namespace longhand
