#include "engine/model.h"

#include <stdexcept>

#include "engine/decode/decode_batch.h"
#include "engine/machine/available_memory.h"
#include "engine/model_identity.h"
#include "engine/pulse.h"
#include "engine/shape_limits.h"
#include "formats/error.h"
#include "formats/verify.h"

namespace longhand {

namespace {

std::string megabytes(uint64_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; }

// Checked before anything is allocated: otherwise the kernel would kill the process in the middle of the load.
void check_room(const MemoryPlan& plan) {
  const uint64_t available = available_memory();
  if (plan.weights <= available) return;
  throw OutOfMemory("[memory] the weights take " + megabytes(plan.weights) + ", " + megabytes(available) + " are free");
}

// On request every value is checked. Scales, where one bad bit spoils a whole group, are always checked by back ends
// that repack them (cpu/weights/weight.cc); weights used in place are not read before they are needed.
void check_finite(const Checkpoint& checkpoint, const LoadRequest& request) {
  const std::atomic<bool>* cancel = request.progress.cancel;
  verify(checkpoint, Verify::values, [&](size_t, size_t) { return !cancel || !cancel->load(); });
  if (cancel && cancel->load()) throw Cancelled{};
}

LoadProgress counted(LoadProgress progress) {
  return {[report = std::move(progress.report)](size_t done, size_t total) {
            pulse.step();
            if (report) report(done, total);
          },
          progress.cancel};
}

// A running turn responds before its next pass, an idle worker at once.
void relieve(const std::shared_ptr<MemoryPressure>& memory_pressure, Worker& worker, bool critical) {
  memory_pressure->signal(critical);
  worker.post({.run =
                   [memory_pressure](bool closed) {
                     if (!closed) memory_pressure->respond();
                     return Turn::over;
                   },
               .computes = false});
}

}  // namespace

Model::Model(LoadRequest request, std::shared_ptr<Worker> worker)
    : worker_(std::move(worker)), backend_(std::move(request.backend)), decode_batch_(std::make_unique<DecodeBatch>()) {
  const std::shared_ptr<const Checkpoint> checkpoint =
      open_checkpoint(request.path, Read::all, request.adapter, request.tower);
  const Description verdict = describe(checkpoint);
  require_supported(verdict);
  require_shapes(verdict.facts, backend_->device());
  needs_ = longhand::memory_needs(checkpoint, verdict.facts.context);
  const MemoryPlan plan = memory_plan({});
  check_room(plan);
  if (request.verify) check_finite(*checkpoint, request);
  if (verdict.encoder && !verdict.reranker) pooling_ = read_pooling(request.path, *checkpoint);
  const uint64_t weights = identity_of_weights(request.path, *checkpoint);
  loaded_ = load_architecture(checkpoint, *backend_, counted(std::move(request.progress)));
  backend_->prepared();
  backend_->reserve_scratch(plan.activations);
  identity_ = identity_on(weights, backend_->device());
  memory_pressure_ = std::make_shared<MemoryPressure>(*backend_, prompt_cache_, loaded_.architecture->vision());
  backend_->on_memory_pressure([memory_pressure = memory_pressure_, computes = std::weak_ptr(worker_)](bool critical) {
    if (const auto idle = computes.lock()) relieve(memory_pressure, *idle, critical);
  });
}

Model::~Model() { memory_pressure_->end(); }

void Model::relieve_memory(bool critical) { relieve(memory_pressure_, *worker_, critical); }

MemoryPlan Model::memory_plan(PlanOptions options) const {
  options.gpu = backend_->device().back_end != "cpu";
  options.async = backend_->decodes_async();
  return plan_memory(needs_, options);
}

void Model::check_tokens(std::span<const int32_t> tokens) const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < facts().vocabulary) continue;
    throw std::invalid_argument("[session] token " + std::to_string(i) + " is " + std::to_string(tokens[i]) +
                                ", expected 0 to " + std::to_string(facts().vocabulary - 1));
  }
}

}  // namespace longhand
