#include "engine/memory_plan.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/prompt_cache/boundaries.h"
#include "engine/timeline/timeline_memory.h"
#include "formats/error.h"

namespace longhand {

namespace {

// The most bytes that snapshots of one kind may take; two are always kept.
constexpr uint64_t max_snapshot_bytes = 64'000'000;
constexpr uint64_t max_automatic = 8;
uint64_t bytes_of(const LayerFacts& layer, int64_t tokens, CacheType type) {
  uint64_t sum = 0;
  for (const MemoryLayout& layout : layer.memory) sum += memory_bytes(layout, tokens, type);
  return sum;
}

uint64_t state_bytes_of(std::span<const LayerFacts> layers) {
  uint64_t sum = 0;
  for (const LayerFacts& layer : layers) sum += bytes_of(layer, 0, CacheType::f16);
  return sum;
}

// Identical layers are rehearsed once: they run one after the other and take the same memory.
std::vector<size_t> unlike_layers(const Facts& facts) {
  std::set<std::tuple<LayerKind, bool, uint64_t>> seen;
  std::vector<size_t> out;
  for (size_t i = 0; i < facts.layers.size(); ++i) {
    const LayerFacts& layer = facts.layers[i];
    if (seen.emplace(layer.kind, layer.experts, bytes_of(layer, prefill_chunk, CacheType::f32)).second)
      out.push_back(i);
  }
  return out;
}

Tensor first_states(const Architecture& architecture, Pass& pass) {
  const std::vector<int32_t> tokens(static_cast<size_t>(pass.count()), 0);
  const Reranker* reranker = architecture.reranker();
  if (!reranker) return architecture.embed(pass, tokens);
  return reranker->embed_pair(pass, tokens, reranker->places(pass.count(), std::max<int64_t>(pass.count() / 2, 1)));
}

// Rehearses one pass over the first `rows` tokens of a prompt of `total`, computing logits of the last row.
void rehearse(const Architecture& architecture, Backend& backend, Path path, int64_t rows, int64_t total) {
  const std::vector<size_t> indices = unlike_layers(architecture.facts);
  std::vector<LayerFacts> layers(architecture.facts.layers.size());
  for (const size_t i : indices) layers[i] = architecture.facts.layers[i];
  TimelineMemory memory(backend, layers, CacheType::f16, rows);
  backend.begin({.path = path});
  if (architecture.encoder()) {
    const auto length = static_cast<int32_t>(rows);
    Pass pass(backend, std::span(&length, 1));
    Tensor x = first_states(architecture, pass);
    for (const size_t i : indices) x = backend.recycle_except(architecture.layer(pass, i, x));
  } else {
    memory.reserve(rows);
    Pass pass(backend, Segment{memory.layers(), 0, rows, total, {}});
    Tensor x = first_states(architecture, pass);
    for (const size_t i : indices) x = backend.recycle_except(architecture.layer(pass, i, x));
    architecture.logits(pass, x.row_range(x.rows - 1, 1));
  }
  backend.finish();
}

std::unique_ptr<Backend> rehearsing_backend() {
  Creation creation = create_cpu({.threads = 1, .rehearses = true});
  if (!creation.backend) throw Unsupported(creation.reason);
  return std::move(creation.backend);
}

// The most that such a pass takes on either path and in either regime of attention.
uint64_t pass_bytes(const std::shared_ptr<const Checkpoint>& checkpoint, int64_t rows, MemoryNeeds& needs) {
  const std::unique_ptr<Backend> backend = rehearsing_backend();
  const Loaded loaded = load_architecture(checkpoint, *backend, {});
  const Facts& facts = loaded.architecture->facts;
  needs.packed_weights = loaded.description.held_bytes;
  needs.stored_weights = loaded.description.weight_bytes;
  needs.layers = facts.layers;
  needs.context = facts.context;
  for (const Path path : {Path::exact, Path::fast}) {
    rehearse(*loaded.architecture, *backend, path, rows, rows);
    if (facts.sparse) rehearse(*loaded.architecture, *backend, path, rows, std::max(facts.sparse->dense_below, rows));
  }
  return backend->scratch_bytes();
}

}  // namespace

MemoryNeeds memory_needs(const std::shared_ptr<const Checkpoint>& checkpoint, int64_t context) {
  MemoryNeeds needs;
  // Measured at two lengths, to separate what each token takes from what every pass takes.
  const int64_t longer = std::max<int64_t>(std::min(prefill_chunk, context), 2), shorter = longer / 2;
  const uint64_t most = pass_bytes(checkpoint, longer, needs), least = pass_bytes(checkpoint, shorter, needs);
  const auto between = static_cast<uint64_t>(longer - shorter);
  needs.pass_token = (most - std::min(most, least) + between - 1) / between;
  needs.pass = most - std::min(most, needs.pass_token * static_cast<uint64_t>(longer));
  for (const LayerFacts& layer : needs.layers) {
    for (const MemoryLayout& layout : layer.memory) {
      if (std::holds_alternative<LatentCacheLayout>(layout))
        needs.decoded_token = std::max(needs.decoded_token, memory_bytes(layout, 1, CacheType::f32));
    }
  }
  return needs;
}

int64_t largest_pass(const MemoryNeeds& needs, const PlanOptions& options) {
  const int64_t context = options.context > 0 ? options.context : needs.context;
  return std::min(options.rows > 0 ? options.rows : prefill_chunk, context);
}

MemoryPlan plan_memory(const MemoryNeeds& needs, const PlanOptions& options) {
  const int64_t context = options.context > 0 ? options.context : needs.context;
  const auto timelines = static_cast<uint64_t>(options.timelines);
  const uint64_t states = state_bytes_of(needs.layers);
  uint64_t all = 0;
  for (const LayerFacts& layer : needs.layers) all += bytes_of(layer, context, options.cache_type);
  return {.weights = options.gpu ? needs.stored_weights : needs.packed_weights,
          .context = timelines * (all - states),
          .states = timelines * (options.async ? 2 : 1) * states,
          .snapshots = timelines * static_cast<uint64_t>(snapshot_limit(states, context)) * states,
          .activations = needs.pass + static_cast<uint64_t>(largest_pass(needs, options)) * needs.pass_token,
          .scratch = static_cast<uint64_t>(context) * needs.decoded_token,
          .cache = options.cache_budget};
}

int64_t automatic_snapshots(uint64_t state_bytes) {
  const uint64_t affordable = max_snapshot_bytes / std::max<uint64_t>(state_bytes, 1);
  return static_cast<int64_t>(std::clamp<uint64_t>(affordable, 2, max_automatic));
}

// Kinds: the end of the first message, ends of messages, points within an answer, and the state before a pass.
int64_t snapshot_limit(uint64_t state_bytes, int64_t context) {
  return state_bytes == 0 ? 0 : std::min(2 + 2 * automatic_snapshots(state_bytes), context);
}

}  // namespace longhand
