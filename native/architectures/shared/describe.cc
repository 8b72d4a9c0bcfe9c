#include "architectures/shared/describe.h"

#include "architectures/registry.h"
#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {

namespace {

struct Sizer {
  int64_t tokens;
  CacheType type;
  uint64_t operator()(const KvCacheLayout& kv) const {
    return static_cast<uint64_t>(2 * tokens * cache_row_bytes(type, kv.heads, kv.dim));
  }
  uint64_t operator()(const LatentCacheLayout& l) const {
    return static_cast<uint64_t>(tokens *
                                 (cache_row_bytes(type, 1, l.rope_width) + cache_row_bytes(type, 1, l.latent_width)));
  }
  uint64_t operator()(const RecurrentStateLayout& s) const {
    return static_cast<uint64_t>(s.heads * s.key_dim * s.value_dim) * sizeof(float);
  }
  uint64_t operator()(const ConvStateLayout& c) const {
    return static_cast<uint64_t>(c.channels * (c.width - 1)) * sizeof(float);
  }
  uint64_t operator()(const CompressedKeysLayout& c) const {
    const int64_t count = c.k1_windows(tokens) + c.k2_windows(tokens);
    return static_cast<uint64_t>(count * c.heads * c.dim) * sizeof(float);
  }
};

std::unique_ptr<Architecture> make(const std::shared_ptr<const Checkpoint>& checkpoint, Lifecycle* backend,
                                   LoadProgress progress, Description& description) {
  Diagnostics& problems = description.problems;
  const std::string name = architecture_name(*checkpoint);
  const ArchitectureEntry* entry = find_architecture(*checkpoint);
  description.container = checkpoint->container();
  for (const std::string& notice : checkpoint->notices()) problems.notice(notice);
  if (auto unsupported = unsupported_quantisation(checkpoint->config())) problems.add(std::move(*unsupported));
  for (const WeightView& tensor : checkpoint->tensors()) {
    description.parameters += static_cast<uint64_t>(tensor.elements());
    description.weight_bytes += stored_bytes(tensor);
    description.bytes_by_type[name_of(tensor.type)] += stored_bytes(tensor);
  }
  if (!entry) {
    problems.add(name.empty() ? "[config] the architecture is missing (\"model_type\" or \"general.architecture\")"
                              : "[config] the architecture \"" + printable(name) + "\" is unknown, known are " +
                                    architecture_list());
    return nullptr;
  }
  description.family = entry->family;
  const Config config(*checkpoint, problems);
  Weights weights(checkpoint, backend, problems, std::move(progress));
  std::unique_ptr<Architecture> made = entry->make(config, weights);
  if (!config.broken() || !made->facts.layers.empty()) weights.finish();
  description.facts = made->facts;
  description.active_bytes = weights.active_bytes();
  description.held_bytes = weights.held_bytes();
  description.mtp = made->drafter() != nullptr;
  description.encoder = made->encoder();
  description.reranker = made->reranker() != nullptr;
  if (const Vision* vision = made->vision()) description.vision = {vision->token, vision->merge};
  return made;
}

}  // namespace

uint64_t memory_bytes(const MemoryLayout& layout, int64_t tokens, CacheType type) {
  return std::visit(Sizer{tokens, type}, layout);
}

bool grows(const MemoryLayout& layout) {
  return !std::holds_alternative<RecurrentStateLayout>(layout) && !std::holds_alternative<ConvStateLayout>(layout);
}

Description describe(const std::shared_ptr<const Checkpoint>& checkpoint) {
  Description description;
  make(checkpoint, nullptr, {}, description);
  return description;
}

void require_supported(const Description& description) {
  if (description.supported()) return;
  constexpr size_t shown = 12;
  const std::vector<std::string>& problems = description.problems.list;
  std::string reasons;
  for (size_t i = 0; i < problems.size() && i < shown; ++i) reasons += (i ? "; " : "") + problems[i];
  if (problems.size() > shown) reasons += "; and " + std::to_string(problems.size() - shown) + " more";
  throw Unsupported(reasons);
}

Loaded load_architecture(const std::shared_ptr<const Checkpoint>& checkpoint, Backend& backend, LoadProgress progress) {
  Loaded loaded;
  loaded.architecture = make(checkpoint, &backend, std::move(progress), loaded.description);
  require_supported(loaded.description);
  return loaded;
}

}  // namespace longhand
