// The output of a reader: everything a Checkpoint is made of. Views point into `files` and `owned`.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/checkpoint.h"
#include "formats/mapped_file.h"

namespace longhand {

// A list of strings inside a mapped GGUF file, checked but not copied: u64 length and bytes, `count` times.
struct StringList {
  std::string key;
  const std::byte* first = nullptr;
  uint64_t count = 0;
};

struct CheckpointParts {
  Container container = Container::safetensors;
  Json config = Json(JsonObject{});
  std::vector<WeightView> tensors;
  std::vector<MappedFile> files;
  std::vector<std::unique_ptr<std::byte[]>> owned;
  std::vector<StringList> lists;
  std::vector<std::string> notices;
};

// The last step of every reader: applies the configuration to the tensors (fuses MLX modules, converts FP8), then
// closes the table. Throws as open_checkpoint does.
std::shared_ptr<const Checkpoint> assemble(CheckpointParts parts, Read what, const std::string& adapter = {});

}  // namespace longhand
