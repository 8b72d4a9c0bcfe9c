// The vision tower of Qwen3.5 (modeling_qwen3_5.py).
#pragma once

#include "architectures/shared/weights.h"
#include "architectures/vision/vision.h"

namespace longhand {

class Config;

// Null if the checkpoint has no tower. Its tensors are checked here and prepared when it is loaded.
std::unique_ptr<Vision> make_qwen3_5_vision(const Config& config, Weights& weights, int64_t hidden);

}  // namespace longhand
