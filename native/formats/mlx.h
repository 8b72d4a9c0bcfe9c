// Quantised MLX checkpoints: which module has which mode, and `X.weight` + `X.scales` (+ `X.biases`)
// made one view with the shape of the matrix it stands for.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "formats/parts.h"

namespace longhand {

struct MlxMode {
  DType type = DType::affine;
  int bits = 4;
  int group = 64;
};

struct MlxQuantisation {
  MlxMode standard;
  std::map<std::string, std::optional<MlxMode>, std::less<>> modules;  // overrides by module path; none: not quantised

  std::optional<MlxMode> of(std::string_view module) const;
};

// From config.json "quantization" (or "quantization_config" of the same form); none when the model is not quantised by
// MLX. Throws FormatError "[config] ..." naming the key.
std::optional<MlxQuantisation> read_mlx_quantisation(const Json& config);

// Replaces packed tensors by fused views. Throws FormatError "[mlx] ...". Works on headers alone (null data) too.
void fuse_mlx(const MlxQuantisation& quantisation, CheckpointParts& parts);

}  // namespace longhand
