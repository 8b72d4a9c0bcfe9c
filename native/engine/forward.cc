#include "engine/forward.h"

#include "engine/pulse.h"

namespace longhand {

Tensor forward(Model& model, TimelineMemory& memory, int64_t held, std::span<const int32_t> tokens, int64_t total,
               Scored rows) {
  const Architecture& architecture = model.architecture();
  Pass pass(model.backend(), memory.layers(), held, static_cast<int64_t>(tokens.size()), total);
  Tensor x = architecture.embed(pass, tokens);
  for (size_t i = 0; i < model.facts().layers.size(); ++i) {
    x = pass->recycle_except(architecture.layer(pass, i, x));
    pulse.step();
  }
  if (rows == Scored::none) return {};
  return architecture.logits(pass, rows == Scored::all ? x : x.row_range(x.rows - 1, 1));
}

}  // namespace longhand
