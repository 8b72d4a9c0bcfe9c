// Checkpoints with one tensor an expert, gathered into the stack [experts, out, in] that back ends take. The bytes are
// copied as they are (any block layout), once, while loading.
#pragma once

#include <vector>

#include "ops/weight.h"

namespace longhand {

struct ExpertStack {
  WeightView view;
  std::vector<std::byte> data, scales, biases;  // what `view` points to
};

bool same_layout(const std::vector<WeightView>& experts);
ExpertStack stack_experts(const std::vector<WeightView>& experts);

}  // namespace longhand
