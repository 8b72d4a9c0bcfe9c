// A model: the weights of one checkpoint on one back end, and the thread that computes with them.
#pragma once

#include <memory>
#include <string>

#include "architectures/shared/describe.h"
#include "engine/machine/memory_pressure.h"
#include "engine/memory_plan.h"
#include "engine/pooling.h"
#include "engine/prompt_cache/prompt_cache.h"
#include "engine/worker.h"

namespace longhand {

struct LoadRequest {
  std::string path;
  std::string adapter;  // a LoRA folder; empty: none
  std::string tower;    // a file; empty: the one beside a GGUF model
  std::unique_ptr<Backend> backend;
  bool verify = false;  // check every weight for NaN and infinities
  LoadProgress progress;
};

class DecodeBatch;

class Model {
 public:
  // Reads, checks and prepares everything; if it fails, nothing stays allocated. Throws FormatError, Unsupported,
  // OutOfMemory, Cancelled.
  Model(LoadRequest request, std::shared_ptr<Worker> worker);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Description& description() const { return loaded_.description; }
  const MemoryNeeds& memory_needs() const { return needs_; }
  // `options` gives the sizes; the model fills in its back end.
  MemoryPlan memory_plan(PlanOptions options) const;
  const Facts& facts() const { return loaded_.description.facts; }
  const Architecture& architecture() const { return *loaded_.architecture; }
  Backend& backend() { return *backend_; }
  Worker& worker() { return *worker_; }
  const Pooling& pooling() const { return pooling_; }
  MemoryPressure& memory_pressure() { return *memory_pressure_; }
  // The system is short of memory: the worker frees what can be computed again before its next pass. Any thread.
  void relieve_memory(bool critical);
  PromptCache& prompt_cache() { return *prompt_cache_; }
  DecodeBatch& decode_batch() { return *decode_batch_; }
  // Identifies everything besides the engine's sources that determines its results.
  uint64_t identity() const { return identity_; }
  // Throws std::invalid_argument naming the first id outside the vocabulary.
  void check_tokens(std::span<const int32_t> tokens) const;

 private:
  std::shared_ptr<Worker> worker_;
  std::unique_ptr<Backend> backend_;  // destroyed after the worker, before what uses it
  MemoryNeeds needs_;
  Loaded loaded_;
  Pooling pooling_;  // of encoders
  uint64_t identity_ = 0;
  std::shared_ptr<PromptCache> prompt_cache_ = std::make_shared<PromptCache>();
  std::shared_ptr<MemoryPressure> memory_pressure_;
  std::unique_ptr<DecodeBatch> decode_batch_;
};

}  // namespace longhand
