// How an encoder's states become one vector: as the checkpoint's files say (sentence-transformers folders, GGUF
// metadata), otherwise the normalised mean.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/checkpoint.h"

namespace longhand {

struct Pooling {
  enum class Kind : uint8_t { mean, first } kind = Kind::mean;  // `first`: the state of [CLS]
  bool normalise = true;
};

// `path` as given to open_checkpoint. Throws FormatError, Unsupported for other poolings.
Pooling read_pooling(const std::string& path, const Checkpoint& checkpoint);

// states [rows, columns]
std::vector<float> pool(const Pooling& pooling, std::span<const float> states, int64_t columns);

}  // namespace longhand
