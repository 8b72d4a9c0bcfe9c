#include "architectures/shared/moe.h"

namespace longhand {

namespace {

using Parts = std::vector<Rows>;

// Checkpoints with one tensor per expert: "mlp.experts.7.gate_proj.weight".
std::vector<Parts> one_by_one(const LayerNames& at, const ExpertNames& names, int64_t experts, const Parts& parts) {
  std::vector<Parts> out;
  for (int64_t j = 0; j < experts; ++j) {
    Parts expert;
    for (const Rows& part : parts) {
      const std::string name =
          std::string(names.module) + ".experts." + std::to_string(j) + "." + part.name + ".weight";
      expert.push_back({at(name, name), part.rows});
    }
    out.push_back(std::move(expert));
  }
  return out;
}

void bind_stacks(Weights& weights, const LayerNames& at, const ExpertNames& names, const ExpertShape& shape,
                 int64_t hidden, ExpertMlp& out) {
  const auto [experts, active, width] = shape;
  const std::string module = names.module;
  const auto stack = [&](const char* leaf, const char* gguf) {
    return at(module + ".switch_mlp." + leaf + ".weight", gguf);
  };
  const std::string gate = stack("gate_proj", "ffn_gate_exps.weight");
  const std::string packed = at(module + ".experts.gate_up_proj", "ffn_gate_up_exps.weight");
  if (weights.has(gate)) {
    out.gate_up =
        weights.experts({{gate, width}, {stack("up_proj", "ffn_up_exps.weight"), width}}, experts, active, hidden);
    out.down = weights.experts({{stack("down_proj", "ffn_down_exps.weight"), hidden}}, experts, active, width);
  } else if (weights.has(packed)) {
    out.gate_up = weights.experts(Parts{{packed, 2 * width}}, experts, active, hidden);
    out.down = weights.experts(Parts{{at(module + ".experts.down_proj", "ffn_down_exps.weight"), hidden}}, experts,
                               active, width);
  } else {
    out.gate_up =
        weights.experts(one_by_one(at, names, experts, {{names.gate, width}, {names.up, width}}), active, hidden);
    out.down = weights.experts(one_by_one(at, names, experts, {{names.down, hidden}}), active, width);
  }
}

}  // namespace

Tensor mix_experts(Pass& pass, const ExpertMlp& weights, Tensor x) {
  const Routes routes = pass->route(x, &weights.norm, weights.router);
  const Tensor h = pass->expert_gate_up(x, *weights.gate_up, &weights.norm, routes);
  if (weights.shared_gate) {
    const Tensor s = pass->linear(pass->gate_up(x, *weights.shared_gate_up, &weights.norm), *weights.shared_down);
    pass->add_gated(x, &weights.norm, *weights.shared_gate, s, x);
  }
  // Must come last: it changes the x that everything above reads.
  pass->expert_down(h, *weights.down, routes, x);
  return x;
}

ExpertShape read_experts(const Config& config) {
  ExpertShape shape;
  shape.experts = config.integer({"num_experts", "expert_count"}, {2, 4096});
  shape.active = config.integer({"num_experts_per_tok", "expert_used_count"}, {1, 4096});
  shape.width = config.integer({"moe_intermediate_size", "expert_feed_forward_length"}, width_range);
  config.require(shape.active <= shape.experts, "\"num_experts_per_tok\" is " + std::to_string(shape.active) +
                                                    ", there are " + std::to_string(shape.experts) + " experts");
  return shape;
}

ExpertMlp bind_experts(Weights& weights, const LayerNames& at, const ExpertNames& names, const ExpertShape& shape,
                       int64_t hidden, Norm norm) {
  ExpertMlp out{.norm = std::move(norm)};
  out.router.experts = shape.experts;
  out.router.topk = shape.active;
  out.router.weight =
      weights.matrix(at(std::string(names.module) + ".gate.weight", "ffn_gate_inp.weight"), shape.experts, hidden);
  bind_stacks(weights, at, names, shape, hidden, out);
  return out;
}

}  // namespace longhand
