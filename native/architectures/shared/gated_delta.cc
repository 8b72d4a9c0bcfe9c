#include "architectures/shared/gated_delta.h"

#include <algorithm>
#include <cmath>

namespace longhand {

namespace {

// Qwen3-Next groups projections by key head: [q | k | v of its value heads | z of its value heads], and [b | a].
// These views put them in the order of the other checkpoints without moving data.
WeightPtr ungroup(Weights& weights, const std::string& qkvz, const std::string& ba, const GatedDelta& delta,
                  int64_t hidden) {
  const int64_t share = delta.value_heads / delta.key_heads, values = share * delta.value_dim;
  const int64_t block = 2 * delta.key_dim + 2 * values;
  const WeightView* big = weights.shaped(qkvz, {delta.key_heads * block, hidden});
  const WeightView* small = weights.shaped(ba, {2 * delta.value_heads, hidden});
  if (!big || !small) return nullptr;
  std::vector<WeightView> parts;
  const auto take = [&](const WeightView& from, int64_t stride, int64_t offset, int64_t count) {
    for (int64_t g = 0; g < delta.key_heads; ++g) parts.push_back(rows_of(from, g * stride + offset, count));
  };
  take(*big, block, 0, delta.key_dim);
  take(*big, block, delta.key_dim, delta.key_dim);
  take(*big, block, 2 * delta.key_dim, values);
  take(*big, block, 2 * delta.key_dim + values, values);
  take(*small, 2 * share, 0, share);
  take(*small, 2 * share, share, share);
  return weights.assembled(parts);
}

// Newer GGUF files of Qwen3-Next store q | k | v and z separately, but b and a still in groups.
WeightPtr ungroup_gates(Weights& weights, const LayerNames& at, const GatedDelta& delta, int64_t hidden) {
  const int64_t share = delta.value_heads / delta.key_heads;
  const WeightView* qkv = weights.shaped(at("", "attn_qkv.weight"), {delta.channels(), hidden});
  const WeightView* z = weights.shaped(at("", "attn_gate.weight"), {delta.value_heads * delta.value_dim, hidden});
  const WeightView* ba = weights.shaped(at("", "ssm_ba.weight"), {2 * delta.value_heads, hidden});
  if (!qkv || !z || !ba) return nullptr;
  std::vector<WeightView> parts{*qkv, *z};
  for (const int64_t offset : {int64_t{0}, share}) {
    for (int64_t g = 0; g < delta.key_heads; ++g) parts.push_back(rows_of(*ba, g * 2 * share + offset, share));
  }
  return weights.assembled(parts);
}

WeightPtr bind_in_proj(Weights& weights, const LayerNames& at, const GatedDelta& delta, int64_t hidden) {
  const std::string qkvz = at("linear_attn.in_proj_qkvz.weight", "ssm_in.weight");
  const std::string ba = at("linear_attn.in_proj_ba.weight", "ssm_ba.weight");
  if (weights.has(qkvz)) return ungroup(weights, qkvz, ba, delta, hidden);
  if (weights.has(ba)) return ungroup_gates(weights, at, delta, hidden);
  return weights.rows({{at("linear_attn.in_proj_qkv.weight", "attn_qkv.weight"), delta.channels()},
                       {at("linear_attn.in_proj_z.weight", "attn_gate.weight"), delta.value_heads * delta.value_dim},
                       {at("linear_attn.in_proj_b.weight", "ssm_beta.weight"), delta.value_heads},
                       {at("linear_attn.in_proj_a.weight", "ssm_alpha.weight"), delta.value_heads}},
                      hidden);
}

}  // namespace

Tensor mix_delta(Pass& pass, const DeltaMixer& weights, size_t layer, Tensor x) {
  const Tensor p = pass->linear(x, *weights.in_proj, {.norm = &weights.norm});
  const auto memory_of = [layer](const Pass& own) {
    return DeltaMemory{&own.memory<ConvState>(layer), &own.memory<RecurrentState>(layer)};
  };
  const auto mixed = [&] {
    if (pass.timelines().empty()) {
      const auto [conv, state] = memory_of(pass);
      return pass->gated_delta(p, weights.delta, *conv, *state);
    }
    std::vector<DeltaMemory> memories;
    for (const Pass& own : pass.timelines()) memories.push_back(memory_of(own));
    return pass->gated_delta_each(p, weights.delta, memories);
  };
  const Tensor o = mixed();
  return pass->linear(o, *weights.out_proj, {.add_to = x});
}

GatedDelta read_delta(const Config& config, const Weights& weights) {
  GatedDelta delta;
  delta.key_heads = config.integer({"linear_num_key_heads", "ssm.group_count"}, count_range);
  delta.value_heads = config.integer({"linear_num_value_heads", "ssm.time_step_rank"}, count_range);
  delta.key_dim = config.integer({"linear_key_head_dim", "ssm.state_size"}, width_range);
  delta.conv_width = config.integer({"linear_conv_kernel_dim", "ssm.conv_kernel"}, {2, 16});
  if (config.gguf()) {
    const int64_t inner = config.integer({nullptr, "ssm.inner_size"}, width_range);
    config.require(inner % delta.value_heads == 0, "\"ssm.inner_size\" cannot be divided by \"ssm.time_step_rank\"");
    delta.value_dim = std::max<int64_t>(inner / delta.value_heads, 1);
    // The GGUF converter leaves the value heads of Qwen3-Next in groups and tiles those of Qwen3.5 (llama.cpp's
    // conversion).
    const bool tiled = architecture_name(weights.checkpoint()) != "qwen3next" ||
                       config.flag_or({nullptr, "ssm.v_head_reordered"}, false);
    delta.head_map = tiled ? GatedDelta::HeadMap::tiled : GatedDelta::HeadMap::grouped;
  } else {
    delta.value_dim = config.integer({"linear_value_head_dim", nullptr}, width_range);
  }
  config.require(delta.value_heads % delta.key_heads == 0,
                 std::to_string(delta.value_heads) + " value heads cannot share " + std::to_string(delta.key_heads) +
                     " key heads (\"linear_num_key_heads\")");
  return delta;
}

DeltaMixer bind_delta(Weights& weights, const LayerNames& at, GatedDelta delta, int64_t hidden, double eps, Norm norm) {
  delta.conv = weights.taps(at("linear_attn.conv1d.weight", "ssm_conv1d.weight"), delta.channels(), delta.conv_width);
  std::vector<float> decay = weights.floats(at("linear_attn.A_log", "ssm_a"), delta.value_heads);
  // GGUF already stores -exp(A_log).
  if (!weights.gguf()) {
    for (float& value : decay) value = -std::exp(value);
  }
  delta.decay = weights.constant(decay);
  delta.dt_bias = weights.vector(at("linear_attn.dt_bias", "ssm_dt.bias"), delta.value_heads);
  delta.norm = weights.norm(at("linear_attn.norm.weight", "ssm_norm.weight"), delta.value_dim, eps);
  DeltaMixer out{.norm = std::move(norm)};
  out.in_proj = bind_in_proj(weights, at, delta, hidden);
  out.out_proj =
      weights.matrix(at("linear_attn.out_proj.weight", "ssm_out.weight"), hidden, delta.value_heads * delta.value_dim);
  out.delta = std::move(delta);
  return out;
}

std::vector<MemoryLayout> delta_memory(const GatedDelta& delta) {
  return {ConvStateLayout{delta.channels(), delta.conv_width},
          RecurrentStateLayout{delta.value_heads, delta.key_dim, delta.value_dim}};
}

// For norms that multiply by 1 + w, published files store w and MLX conversions store 1 + w. MLX conversions also move
// the kernel axis of the convolutions, and that layout, never the values, tells them apart.
bool norms_are_raw(const Weights& weights) {
  if (weights.gguf()) return false;
  for (const WeightView& tensor : weights.checkpoint().tensors()) {
    if (tensor.name.ends_with("linear_attn.conv1d.weight")) return tensor.shape.back() != 1;
  }
  return true;
}

}  // namespace longhand
