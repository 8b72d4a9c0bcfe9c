// What a model takes in memory, before it is loaded: told from headers alone. The weights and the passes are rehearsed
// by the code that loads and computes (Lifecycle::rehearses), and what a timeline holds follows from the layouts it is
// allocated by, so that plan and allocation cannot differ. The engine allocates by it, and the app's forecast is it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "architectures/shared/describe.h"

namespace longhand {

// Of one model: all that a plan is computed from.
struct MemoryNeeds {
  uint64_t packed_weights = 0;  // as the CPU keeps them
  uint64_t stored_weights = 0;  // as they stand in the file, which is what GPUs compute with
  std::vector<LayerFacts> layers;
  int64_t context = 0;  // the length the model was made for
  // Of a pass: what it takes whatever it reads, and for each of its tokens.
  uint64_t pass = 0, pass_token = 0;
  // What a pass decodes of a cache before it computes with it, for each token of the context.
  uint64_t decoded_token = 0;
};

// In bytes.
struct MemoryPlan {
  uint64_t weights = 0;
  uint64_t context = 0;      // keys, values and latents, which grow with it
  uint64_t states = 0;       // recurrent and convolution states
  uint64_t snapshots = 0;    // copies of them, to go back to (snapshot_limit)
  uint64_t activations = 0;  // of the largest pass
  uint64_t scratch = 0;      // what a pass holds beside its tensors
  uint64_t cache = 0;        // the prompt cache, when it is full

  uint64_t total() const { return weights + context + states + snapshots + activations + scratch + cache; }
};

struct PlanOptions {
  int64_t context = 0;  // tokens of a timeline; 0: what the model was made for
  CacheType cache_type = CacheType::f16;
  bool gpu = false;
  bool async = false;     // the states have second slots
  int64_t rows = 0;       // of the largest pass; 0: a chunk of a prompt
  int64_t timelines = 1;  // answers that are written at a time
  uint64_t cache_budget = 0;
};

// Of a checkpoint that has been found supported, and made for this context.
MemoryNeeds memory_needs(const std::shared_ptr<const Checkpoint>& checkpoint, int64_t context);
// Tokens of it.
int64_t largest_pass(const MemoryNeeds& needs, const PlanOptions& options);
MemoryPlan plan_memory(const MemoryNeeds& needs, const PlanOptions& options);

// Snapshots that a timeline takes by itself of one kind, when each takes so many bytes.
int64_t automatic_snapshots(uint64_t state_bytes);
// All copies of its states that a timeline of `context` tokens may hold beside those asked for.
int64_t snapshot_limit(uint64_t state_bytes, int64_t context);

}  // namespace longhand
