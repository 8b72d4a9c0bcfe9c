// Computes a model's memory use from its headers, before it is loaded. The code that loads and computes rehearses the
// weights and the passes (Lifecycle::rehearses), and a timeline's memory follows from the layouts that allocate it, so
// plan and allocation cannot differ. The engine allocates by this plan, and the app shows it as its forecast.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "architectures/shared/describe.h"

namespace longhand {

// Everything about a model that plans are computed from.
struct MemoryNeeds {
  uint64_t packed_weights = 0;  // as the CPU packs them
  uint64_t stored_weights = 0;  // as in the file; GPUs compute with these
  std::vector<LayerFacts> layers;
  int64_t context = 0;  // the context length the model was trained for
  // Memory of a pass: a fixed part, and a part per token.
  uint64_t pass = 0, pass_token = 0;
  // Bytes per token of the context that a pass decodes from a quantised cache before computing with it.
  uint64_t decoded_token = 0;
};

// In bytes.
struct MemoryPlan {
  uint64_t weights = 0;
  uint64_t context = 0;      // keys, values and latents, which grow with the context
  uint64_t states = 0;       // recurrent and convolution states
  uint64_t snapshots = 0;    // copies of the states (snapshot_limit)
  uint64_t activations = 0;  // tensors of the largest pass
  uint64_t scratch = 0;      // other memory of the largest pass
  uint64_t cache = 0;        // the prompt cache at its limit

  uint64_t total() const { return weights + context + states + snapshots + activations + scratch + cache; }
};

struct PlanOptions {
  int64_t context = 0;  // tokens of a timeline; 0: as many as the model was trained for
  CacheType cache_type = CacheType::f16;
  bool gpu = false;
  bool async = false;     // states have second slots (AsyncDecode)
  int64_t rows = 0;       // tokens in the largest pass; 0: a chunk of a prompt
  int64_t timelines = 1;  // answers written at the same time
  uint64_t cache_budget = 0;
};

// For a checkpoint that is supported and was trained for this context.
MemoryNeeds memory_needs(const std::shared_ptr<const Checkpoint>& checkpoint, int64_t context);
// Number of tokens in the largest pass.
int64_t largest_pass(const MemoryNeeds& needs, const PlanOptions& options);
MemoryPlan plan_memory(const MemoryNeeds& needs, const PlanOptions& options);

// How many automatic snapshots of one kind a timeline keeps if each takes this many bytes.
int64_t automatic_snapshots(uint64_t state_bytes);
// How many copies of its states a timeline of `context` tokens may hold, not counting requested ones.
int64_t snapshot_limit(uint64_t state_bytes, int64_t context);

}  // namespace longhand
