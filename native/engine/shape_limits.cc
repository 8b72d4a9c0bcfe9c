#include "engine/shape_limits.h"

#include "formats/error.h"

namespace longhand {

namespace {

struct Need {
  const char* what;
  int64_t size;
  int64_t most;
};

std::vector<Need> needs(const MemoryLayout& memory, const ShapeLimits& most) {
  if (const auto* cache = std::get_if<KvCacheLayout>(&memory)) return {{"heads", cache->dim, most.head}};
  if (const auto* state = std::get_if<RecurrentStateLayout>(&memory))
    return {{"state keys", state->key_dim, most.state}, {"state values", state->value_dim, most.state}};
  if (const auto* conv = std::get_if<ConvStateLayout>(&memory)) return {{"convolutions", conv->width, most.taps}};
  return {};
}

}  // namespace

void require_shapes(const Facts& facts, const DeviceInfo& device) {
  for (size_t i = 0; i < facts.layers.size(); ++i) {
    for (const MemoryLayout& memory : facts.layers[i].memory) {
      for (const auto& [what, size, most] : needs(memory, device.shapes)) {
        if (most == 0 || size <= most) continue;
        throw Unsupported("[" + device.back_end + "] layer " + std::to_string(i) + " has " + what + " of " +
                          std::to_string(size) + ", this back end computes at most " + std::to_string(most) +
                          "; the CPU takes any");
      }
    }
  }
}

}  // namespace longhand
