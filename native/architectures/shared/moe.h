// Mixture of experts (modeling_qwen3_5_moe.py, modeling_lfm2.py): a router chooses a few SwiGLU experts per token; Qwen
// adds a shared expert with a sigmoid gate.
#pragma once

#include "architectures/shared/config.h"
#include "architectures/shared/pass.h"
#include "architectures/shared/weights.h"

namespace longhand {

struct ExpertMlp {
  Norm norm;
  Router router;
  WeightPtr gate_up, down;                             // [experts, 2 * width, hidden], [experts, hidden, width]
  WeightPtr shared_gate_up, shared_down, shared_gate;  // empty without a shared expert
};
// x += sum_i weight_i * expert_i(norm(x)) [+ sigmoid(gate . norm(x)) * shared(norm(x))]
Tensor mix_experts(Pass& pass, const ExpertMlp& weights, Tensor x);

struct ExpertShape {
  int64_t experts = 0, active = 0, width = 0;
};
ExpertShape read_experts(const Config& config);

// The family's tensor names in Hugging Face files; in GGUF all families use the same.
struct ExpertNames {
  const char* module;            // "mlp"
  const char *gate, *up, *down;  // within one expert: "gate_proj"
};
// Loads router and expert stacks from packed tensors, MLX stacks, GGUF stacks or one tensor per expert.
ExpertMlp bind_experts(Weights& weights, const LayerNames& at, const ExpertNames& names, const ExpertShape& shape,
                       int64_t hidden, Norm norm);

}  // namespace longhand
