#include "engine/forward.h"

#include "engine/pulse.h"

namespace longhand {

namespace {

Tensor through_layers(Model& model, Pass& pass, Tensor x) {
  for (size_t i = 0; i < model.facts().layers.size(); ++i) {
    x = pass->recycle_except(model.architecture().layer(pass, i, x));
    pulse.step();
  }
  return x;
}

}  // namespace

Tensor forward(Model& model, TimelineMemory& memory, const Pictures& pictures, int64_t held,
               std::span<const int32_t> tokens, int64_t total, Scored rows) {
  const Architecture& architecture = model.architecture();
  const auto count = static_cast<int64_t>(tokens.size());
  Pass pass(model.backend(), Segment{memory.layers(), held, count, total, pictures.positions(held, count)});
  const Tensor x = through_layers(
      model, pass,
      is_picture(tokens.front()) ? pictures.rows(model.backend(), held, count) : architecture.embed(pass, tokens));
  if (rows == Scored::none) return {};
  return architecture.logits(pass, rows == Scored::all ? x : x.row_range(x.rows - 1, 1));
}

Tensor forward(Model& model, std::span<const NextToken> next) {
  std::vector<Segment> segments;
  std::vector<int32_t> tokens;
  for (const NextToken& each : next) {
    segments.push_back({each.memory->layers(), each.held, 1, each.held + 1, each.pictures->positions(each.held, 1)});
    tokens.push_back(each.token);
  }
  Pass pass(model.backend(), segments);
  return model.architecture().logits(pass, through_layers(model, pass, model.architecture().embed(pass, tokens)));
}

}  // namespace longhand
