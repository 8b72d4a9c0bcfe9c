// Llama converted by MHA2MLA (arXiv 2502.14837): each head retains a few rotary pairs; the rest of the
// keys and all values are computed from one latent vector per token. Attention runs on the latents (absorbed).
#include <algorithm>
#include <cmath>

#include "architectures/registry.h"
#include "architectures/shared/blocks.h"
#include "architectures/shared/decoder.h"
#include "architectures/shared/partial_rope.h"
#include "architectures/shared/rope.h"

namespace longhand {

namespace {

class LlamaMla : public Decoder {
 public:
  LlamaMla(const Config& config, Weights& weights);
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;

 private:
  struct Layer {
    Norm norm;
    WeightPtr in_proj;  // rows: q | rotary part of k | latent
    MlaAttention attention;
    WeightPtr out_proj;
    Swiglu mlp;
  };
  std::vector<Layer> layers_;
};

Tensor LlamaMla::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  const Tensor p = pass->linear(x, *layer.in_proj, {.norm = &layer.norm});
  const Tensor o = pass.by_timeline(p, [&](const Pass& own, Tensor rows) {
    return own->mla_attention(rows, layer.attention, own.positions(), own.memory<LatentCache>(index));
  });
  x = pass->linear(o, *layer.out_proj, {.add_to = x});
  return swiglu(pass, layer.mlp, x);
}

// Two layouts of the same conversion exist; every published checkpoint uses the old one.
struct Names {
  const char *rope_key, *down, *down_k, *down_v, *up_k, *up_v;
};
constexpr Names old_layout{"self_attn.W_k_r.weight",    "self_attn.W_down_k.weight", "self_attn.W_down_k.weight",
                           "self_attn.W_down_v.weight", "self_attn.W_up_k.weight",   "self_attn.W_up_v.weight"};
constexpr Names new_layout{"self_attn.k_r_proj.weight",       "self_attn.kv_proj.down_kv.weight",
                           "self_attn.kv_proj.down_k.weight", "self_attn.kv_proj.down_v.weight",
                           "self_attn.kv_proj.up_k.weight",   "self_attn.kv_proj.up_v.weight"};

// The new layout puts the retained rows of all query heads before the others; slicing restores the order of the old one
// (arXiv 2502.14837).
std::vector<WeightView> original_order(const WeightView& q, const Heads& heads, const RetainedDims& dims) {
  const int64_t retained = static_cast<int64_t>(dims.retained.front().size()), rest = heads.dim - retained;
  std::vector<WeightView> rows;
  for (int64_t h = 0; h < heads.query; ++h) {
    const auto group = static_cast<size_t>(h / (heads.query / heads.kv));
    for (int32_t d = 0; d < heads.dim; ++d) {
      const auto in_retained = std::ranges::find(dims.retained[group], d);
      const int64_t row =
          in_retained != dims.retained[group].end()
              ? h * retained + (in_retained - dims.retained[group].begin())
              : heads.query * retained + h * rest + (std::ranges::find(dims.rest[group], d) - dims.rest[group].begin());
      rows.push_back(rows_of(q, row, 1));
    }
  }
  return rows;
}

std::vector<int32_t> flat(const std::vector<std::vector<int32_t>>& groups) {
  std::vector<int32_t> out;
  for (const std::vector<int32_t>& group : groups) out.insert(out.end(), group.begin(), group.end());
  return out;
}

// The rank of each layer, for each key-value head: the same, or those of a list of ours, which no published checkpoint
// has.
std::vector<int64_t> read_ranks(const Config& config, int64_t layers, int64_t dim) {
  const Key rank{config.find_path("SVD.low_rank") ? "SVD.low_rank" : "mla.low_rank", nullptr};
  const Key list{"mla.layer_low_ranks", nullptr};
  std::vector<int64_t> usual(static_cast<size_t>(layers), config.integer(rank, width_range));
  if (!config.has(list)) return usual;
  std::vector<int64_t> given = config.integers(list);
  const bool fits = given.size() == usual.size() &&
                    std::ranges::all_of(given, [&](int64_t one) { return one >= 1 && one <= 2 * dim; });
  config.require(fits, "\"mla.layer_low_ranks\" must list " + std::to_string(layers) +
                           " integers, one a layer, from 1 to " + std::to_string(2 * dim));
  return fits ? given : usual;
}

LlamaMla::LlamaMla(const Config& config, Weights& weights) {
  const DecoderShape shape = read_shape(config, weights);
  const Heads heads = read_heads(config, shape.hidden);
  const int64_t width = config.integer({"intermediate_size", nullptr}, width_range);
  const std::vector<int64_t> ranks = read_ranks(config, shape.layers, heads.dim);
  config.only({"hidden_act", nullptr}, "silu");
  config.only({"attention_bias", nullptr}, false);
  const PartialRope partial = read_partial_rope(config, shape.layers, heads);
  if (config.broken()) return;
  const Rope rope = read_rope(config, weights, heads.dim);
  if (config.broken()) return;

  for (int64_t i = 0; i < shape.layers; ++i) {
    const LayerNames at = weights.layer(i);
    const auto norm = [&](const char* name) { return weights.norm(at(name, ""), shape.hidden, shape.eps); };
    const bool old = weights.has(at(old_layout.rope_key, ""));
    const Names& names = old ? old_layout : new_layout;
    const bool split = weights.has(at(names.down_v, ""));
    const RetainedDims dims = retained_dims(partial, i, heads);
    const int64_t retained = static_cast<int64_t>(dims.retained.front().size());
    const int64_t latent = heads.kv * ranks[static_cast<size_t>(i)], latents = split ? 2 * latent : latent;

    Layer layer{.norm = norm("input_layernorm.weight")};
    const WeightView* q = weights.shaped(at("self_attn.q_proj.weight", ""), {heads.query * heads.dim, shape.hidden});
    const WeightView* k = weights.shaped(at(names.rope_key, ""), {heads.kv * retained, shape.hidden});
    const WeightView* down = weights.shaped(at(split ? names.down_k : names.down, ""), {latent, shape.hidden});
    const WeightView* down_v = split ? weights.shaped(at(names.down_v, ""), {latent, shape.hidden}) : nullptr;
    if (q && k && down && (down_v || !split)) {
      std::vector<WeightView> parts = old ? std::vector<WeightView>{*q} : original_order(*q, heads, dims);
      parts.push_back(*k);
      parts.push_back(*down);
      if (down_v) parts.push_back(*down_v);
      layer.in_proj = weights.assembled(parts);
    }
    layer.attention = {.heads = heads,
                       .rope_dim = retained,
                       .latent_k = latent,
                       .latent_v_first = split ? latent : 0,
                       .latent_v = latent,
                       .up_k = weights.plain_matrix(at(names.up_k, ""), heads.kv * (heads.dim - retained), latent),
                       .up_v = weights.plain_matrix(at(names.up_v, ""), heads.kv * heads.dim, latent),
                       .retained = weights.constant(flat(dims.retained)),
                       .rest = weights.constant(flat(dims.rest)),
                       .rope = rope,
                       .scale = 1.0f / std::sqrt(static_cast<float>(heads.dim))};
    layer.out_proj = weights.matrix(at("self_attn.o_proj.weight", ""), shape.hidden, heads.query * heads.dim);
    layer.mlp = bind_swiglu(weights, at, shape.hidden, width, norm("post_attention_layernorm.weight"));
    layers_.push_back(std::move(layer));
    facts.layers.push_back({LayerKind::latent, false, {LatentCacheLayout{heads.kv * retained, latents}}});
  }
  bind_ends(weights, config, shape, weights.top("norm.weight", ""));
}

}  // namespace

bool has_mla(const Checkpoint& checkpoint) {
  for (const WeightView& tensor : checkpoint.tensors()) {
    if (tensor.name.ends_with("self_attn.W_k_r.weight") || tensor.name.ends_with("self_attn.k_r_proj.weight"))
      return true;
  }
  return false;
}

std::unique_ptr<Architecture> make_llama_mla(const Config& config, Weights& weights) {
  return std::make_unique<LlamaMla>(config, weights);
}

}  // namespace longhand
