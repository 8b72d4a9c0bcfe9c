// Low-rank adapters (LoRA, Hu et al. 2021, arXiv 2106.09685) as PEFT writes them: a folder with adapter_config.json
// ("r", "lora_alpha") and adapter_model.safetensors. For a matrix x.weight [out, in] it holds
//   base_model.model.x.lora_A.weight [r, in] and base_model.model.x.lora_B.weight [out, r]:
// the model is used as if x.weight were x.weight + lora_alpha / r * B A. Any other tensor base_model.model.y stands in
// for y, or is added when the model has no y (a head). With "base_checksum" (one, or a list) in adapter_config.json
// it applies to these models only: FNV-1a (64 bits, hexadecimal) over the first 4096 bytes of each matrix that changes
// (of its codes where it is MLX affine), in the order of their lora_B's names.
#pragma once

#include <string>

#include "formats/parts.h"

namespace longhand {

// Applies the adapter in `folder` to an opened model. Changed tensors become fp32 in memory of our own. Throws
// FormatError("[adapter] ..."), Unsupported when the model's matrices are quantised in another way.
void adapt(CheckpointParts& parts, const std::string& folder);

}  // namespace longhand
