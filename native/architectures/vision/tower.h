// Shape and weights of the tower of Qwen3.5 (modeling_qwen3_5.py), by the names of every container.
#pragma once

#include <string>
#include <vector>

#include "architectures/shared/weights.h"

namespace longhand {

struct TowerShape {
  int64_t depth = 0, width = 0, mlp = 0, heads = 0, side = 0, patch = 0, frames = 2, channels = 3, hidden = 0;
  int64_t merge = 2;
  double theta = 10000;

  int64_t head() const { return width / heads; }
  int64_t patch_values() const { return channels * frames * patch * patch; }
  int64_t merged_width() const { return merge * merge * width; }
};

// Tensor names: as published, in MLX conversions, or in a GGUF file of llama.cpp.
struct TowerNames {
  bool gguf = false;
  std::string prefix;  // "model.visual."

  std::string operator()(const char* hf, const char* in_gguf) const { return gguf ? in_gguf : prefix + hf; }
  LayerNames block(int64_t index) const {
    const std::string number = std::to_string(index) + ".";
    return {gguf ? "v.blk." + number : prefix + "blocks." + number, gguf};
  }
};

struct Dense {
  WeightPtr weight;
  BufferPtr bias;
};

// A projection and the norm before it, fused into one op if the device can: the mean is removed at load time from
// everything that is added to the residual stream, so the layer norm becomes an RMS norm, and the norm's bias becomes
// part of the projection's bias.
struct NormedDense {
  LayerNorm norm;
  Norm fused;
  Dense dense;
};

struct TowerBlock {
  NormedDense qkv, up;
  Dense out, down;
};

struct Tower {
  bool fused = false;
  Dense patches, merge_up, merge_down;
  std::vector<float> places;  // [side * side, width]
  Rope rope;
  std::vector<TowerBlock> blocks;
  LayerNorm merge_norm;
};

// `fused`: the device fuses an RMS norm into the projection that follows it.
Tower bind_tower(Weights& weights, const TowerNames& names, const TowerShape& shape, bool fused);

}  // namespace longhand
