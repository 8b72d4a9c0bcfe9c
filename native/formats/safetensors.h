// safetensors: u64 header length, a JSON header, then the data of all tensors without a gap.
// (github.com/huggingface/safetensors, README "Format".)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/parts.h"

namespace longhand {

struct SafetensorsFile {
  std::vector<WeightView> tensors;  // by offset; `data` points into the bytes given
  std::string format;               // __metadata__.format: "pt", "mlx", ... or empty
};

// `name` is the file's name for messages, `file` the number put into the views. Throws FormatError.
SafetensorsFile read_safetensors(std::span<const std::byte> bytes, const std::string& name, int file);

// Type names as they stand in the header ("BF16"); none for what the engine has no use for (F4, C64, ...).
std::optional<DType> safetensors_type(std::string_view name);

// The tensors of a folder: all shards of model.safetensors.index.json, or model.safetensors. Fills tensors, files and
// container (mlx when the file says so).
void open_safetensors_folder(const std::string& folder, CheckpointParts& parts);
// One file; the whole set when the folder's index lists it as a shard.
void open_safetensors_file(const std::string& path, CheckpointParts& parts);

}  // namespace longhand
