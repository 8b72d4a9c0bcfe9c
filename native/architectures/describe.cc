#include "architectures/describe.h"

#include "architectures/registry.h"
#include "formats/error.h"

namespace longhand {

namespace {

// Bytes of one cached value: q8 and q4 store an fp16 scale for every 32 values.
double bytes_per_value(CacheType type) {
  switch (type) {
    case CacheType::f32: return 4;
    case CacheType::f16: return 2;
    case CacheType::q8: return 34.0 / 32;
    case CacheType::q4: return 18.0 / 32;
  }
  return 4;
}

uint64_t rows_bytes(int64_t rows, int64_t width, CacheType type) {
  return static_cast<uint64_t>(static_cast<double>(rows) * static_cast<double>(width) * bytes_per_value(type));
}

int64_t windows(int64_t tokens, int64_t kernel, int64_t stride) { return tokens < kernel ? 0 : (tokens - kernel) / stride + 1; }

struct Sizer {
  int64_t tokens;
  CacheType type;
  uint64_t operator()(const KvCacheLayout& kv) const { return 2 * rows_bytes(tokens, kv.heads * kv.dim, type); }
  uint64_t operator()(const LatentCacheLayout& l) const { return rows_bytes(tokens, l.rope_width + l.latent_width, type); }
  uint64_t operator()(const RecurrentStateLayout& s) const {
    return static_cast<uint64_t>(s.heads * s.key_dim * s.value_dim) * sizeof(float);
  }
  uint64_t operator()(const ConvStateLayout& c) const {
    return static_cast<uint64_t>(c.channels * (c.width - 1)) * sizeof(float);
  }
  uint64_t operator()(const CompressedKeysLayout& c) const {
    const int64_t count = windows(tokens, c.kernel, c.stride) + windows(tokens, 4 * c.kernel, 4 * c.stride);
    return static_cast<uint64_t>(count * c.heads * c.dim) * sizeof(float);
  }
};

std::unique_ptr<Family> make(const std::shared_ptr<const Checkpoint>& checkpoint, Backend* backend, LoadProgress progress,
                             Description& description) {
  Problems& problems = description.problems;
  const std::string name = architecture_name(*checkpoint);
  const Architecture* architecture = find_architecture(name);
  description.container = checkpoint->container();
  for (const WeightView& tensor : checkpoint->tensors()) {
    description.parameters += static_cast<uint64_t>(tensor.elements());
    description.weight_bytes += tensor.data_bytes;
    description.bytes_by_type[name_of(tensor.type)] += tensor.data_bytes;
  }
  if (!architecture) {
    problems.add(name.empty() ? "[config] the architecture is missing (\"model_type\" or \"general.architecture\")"
                              : "[config] the architecture \"" + name + "\" is unknown, known are " + architecture_list());
    return nullptr;
  }
  description.family = architecture->family;
  const Config config(*checkpoint, problems);
  Weights weights(checkpoint, backend, problems, std::move(progress));
  std::unique_ptr<Family> family = architecture->make(config, weights);
  if (!config.broken() || !family->facts.layers.empty()) weights.finish();
  description.facts = family->facts;
  description.active_bytes = weights.active_bytes();
  description.mtp = family->drafter() != nullptr;
  description.encoder = family->encoder();
  return family;
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

Loaded load_family(const std::shared_ptr<const Checkpoint>& checkpoint, Backend& backend, LoadProgress progress) {
  // The verdict first, so that nothing is allocated for a checkpoint that cannot run.
  const Description verdict = describe(checkpoint);
  if (!verdict.supported()) {
    constexpr size_t shown = 12;
    std::string reasons;
    for (size_t i = 0; i < verdict.problems.list.size() && i < shown; ++i) {
      reasons += (i ? "; " : "") + verdict.problems.list[i];
    }
    if (verdict.problems.list.size() > shown) {
      reasons += "; and " + std::to_string(verdict.problems.list.size() - shown) + " more";
    }
    throw Unsupported(reasons);
  }
  Loaded loaded;
  loaded.family = make(checkpoint, &backend, std::move(progress), loaded.description);
  if (!loaded.description.supported()) throw Unsupported(loaded.description.problems.list.front());
  return loaded;
}

}  // namespace longhand
