#include "engine/warmup.h"

#include <algorithm>
#include <vector>

#include "engine/forward.h"
#include "engine/prompt_cache/boundaries.h"
#include "formats/error.h"

namespace longhand {

namespace {

class Warmup {
 public:
  explicit Warmup(Model& model)
      : model_(model), memory_(model.backend(), model.facts().layers, CacheType::f16, model.facts().context) {}

  // `sparse`: as part of a prompt long enough for sparse attention; otherwise of a shorter one.
  void pass(int64_t wanted, bool sparse = false) {
    const auto& rule = model_.facts().sparse;
    const int64_t limit = rule && !sparse ? rule->dense_below - 1 : model_.facts().context;
    const int64_t tokens = std::min(wanted, limit);
    make_room(tokens, limit);
    const std::vector<int32_t> ids(static_cast<size_t>(tokens), 0);
    Backend& backend = model_.backend();
    backend.begin({.path = Path::fast, .warmup = true});
    const int64_t total = std::max(held_ + tokens, sparse ? rule->dense_below : 0);
    const Tensor scores = forward(model_, memory_, {}, held_, ids, total, Scored::last);
    for (const float temperature : {0.0f, 1.0f}) backend.guess(scores, {.temperature = temperature}, {}, {}, false);
    backend.finish();
    held_ += tokens;
  }
  // A step that leaves the states it read as they are, so that it can be taken back.
  void step_ahead() {
    memory_.open_slots();
    pass(1);
    memory_.close_slots();
  }
  // A step of several answers. Nothing is computed, so all may be of one timeline.
  void together(size_t answers) {
    make_room(static_cast<int64_t>(answers), model_.facts().context);
    const Pictures none;
    model_.backend().begin({.path = Path::fast, .separate = true, .warmup = true});
    forward(model_, std::vector<NextToken>(answers, {&memory_, &none, held_, 0}));
    model_.backend().finish();
    memory_.cut(held_);
  }

 private:
  void make_room(int64_t tokens, int64_t limit) {
    if (held_ + tokens > limit) {
      held_ = 0;
      memory_.cut(held_);
    }
    memory_.reserve(held_ + tokens);
  }

  Model& model_;
  TimelineMemory memory_;
  int64_t held_ = 0;
};

// In the order a first question needs them: a prompt, the steps of its answer, short prompt ends, steps after so many
// keys that attention is split, and steps of up to eight answers at once.
void warm_up(Model& model) {
  Warmup warmup(model);
  constexpr int64_t chunk = prefill_chunk;
  constexpr int64_t passes[] = {chunk, 1, 2, 3, 4, 5, 6, 7, 8, chunk, chunk, 1}, sparse[] = {chunk, 1};
  for (const int64_t tokens : passes) {
    warmup.pass(tokens);
    if (tokens == 1 && model.backend().decodes_async()) warmup.step_ahead();
  }
  if (model.facts().sparse) {
    for (const int64_t tokens : sparse) warmup.pass(tokens, true);
  }
  for (size_t answers = 2; answers <= 8; ++answers) warmup.together(answers);
}

}  // namespace

void prepare_kernels(Model& model, std::function<void(size_t done, size_t total)> told) {
  if (!model.backend().compiles_lazily() || model.architecture().encoder()) return;
  try {
    warm_up(model);
  } catch (const OutOfMemory&) {
    model.backend().finish();  // the kernels collected so far are ready
  }
  model.backend().compile_pending(std::move(told));
}

}  // namespace longhand
