// Decides from the headers alone whether a checkpoint can run and what it needs. Used by load, by inspect and
// on remote headers.
#pragma once

#include <map>
#include <optional>

#include "architectures/architecture.h"
#include "architectures/shared/weights.h"

namespace longhand {

struct Description {
  Diagnostics problems;
  std::string family;
  Container container = Container::safetensors;
  Facts facts;
  uint64_t parameters = 0;
  uint64_t weight_bytes = 0;
  std::map<std::string, uint64_t> bytes_by_type;
  uint64_t active_bytes = 0;  // weight bytes that decoding one token reads
  uint64_t held_bytes = 0;    // Weights::held_bytes()
  bool mtp = false;
  bool encoder = false;
  bool reranker = false;
  // How a model with a vision tower represents a picture in its prompt: `token` is the placeholder for each merged row.
  struct Sight {
    int32_t token = 0;
    int64_t merge = 1;
  };
  std::optional<Sight> vision;

  bool supported() const { return problems.none(); }
};

Description describe(const std::shared_ptr<const Checkpoint>& checkpoint);
// Throws Unsupported listing the reasons (at most a dozen of them).
void require_supported(const Description& description);

// Loads the weights of a checkpoint that `describe` has accepted.
struct Loaded {
  Description description;
  std::unique_ptr<Architecture> architecture;
};
Loaded load_architecture(const std::shared_ptr<const Checkpoint>& checkpoint, Backend& backend, LoadProgress progress);

// Bytes that a session allocates for one layer at a context of `tokens`.
uint64_t memory_bytes(const MemoryLayout& layout, int64_t tokens, CacheType type);
bool grows(const MemoryLayout& layout);

}  // namespace longhand
