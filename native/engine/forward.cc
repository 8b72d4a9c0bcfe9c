#include "engine/forward.h"

#include "engine/pulse.h"

namespace longhand {

Tensor forward(Model& model, TimelineMemory& memory, const Pictures& pictures, int64_t held,
               std::span<const int32_t> tokens, int64_t total, Scored rows) {
  const Architecture& architecture = model.architecture();
  const auto count = static_cast<int64_t>(tokens.size());
  Pass pass(model.backend(), memory.layers(), held, count, total, pictures.positions(held, count));
  Tensor x =
      is_picture(tokens.front()) ? pictures.rows(model.backend(), held, count) : architecture.embed(pass, tokens);
  for (size_t i = 0; i < model.facts().layers.size(); ++i) {
    x = pass->recycle_except(architecture.layer(pass, i, x));
    pulse.step();
  }
  if (rows == Scored::none) return {};
  return architecture.logits(pass, rows == Scored::all ? x : x.row_range(x.rows - 1, 1));
}

}  // namespace longhand
