// The gated-delta mixer as a block (arXiv 2412.06464; modeling_qwen3_5.py), including the norm before it and the
// residual after it.
#pragma once

#include "architectures/shared/config.h"
#include "architectures/shared/pass.h"
#include "architectures/shared/weights.h"

namespace longhand {

struct DeltaMixer {
  Norm norm;
  WeightPtr in_proj;  // rows: q | k | v | z | b | a
  GatedDelta delta;
  WeightPtr out_proj;
};
// x += out(delta_rule(in(norm(x)))). State per value head: S [key_dim, value_dim], fp32.
Tensor mix_delta(Pass& pass, const DeltaMixer& weights, size_t layer, Tensor x);

GatedDelta read_delta(const Config& config, const Weights& weights);
DeltaMixer bind_delta(Weights& weights, const LayerNames& at, GatedDelta delta, int64_t hidden, double eps, Norm norm);
std::vector<MemoryLayout> delta_memory(const GatedDelta& delta);

// Whether the checkpoint stores w for norms that multiply by 1 + w.
bool norms_are_raw(const Weights& weights);

}  // namespace longhand
