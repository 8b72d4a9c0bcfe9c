#include "engine/embed.h"

#include "formats/error.h"

namespace longhand {

std::vector<float> embed(Model& model, std::span<const int32_t> tokens) {
  if (!model.family().encoder()) throw Unsupported("[embed] this model writes text: embeddings come from encoders");
  model.check_tokens(tokens);
  return {};
}

Matrix draft_logits(const std::shared_ptr<Model>& model, std::span<const int32_t> tokens,
                    std::span<const int32_t> next) {
  const Drafter* drafter = model->family().drafter();
  if (!drafter) throw Unsupported("[draft] this model has no drafting head");
  if (tokens.size() != next.size() || tokens.empty()) {
    throw std::invalid_argument("[draft] there are " + std::to_string(tokens.size()) + " tokens and " +
                                std::to_string(next.size()) + " next tokens, allowed are equal numbers");
  }
  model->check_tokens(next);
  Backend& backend = model->backend();
  Session session(model, {.context = static_cast<int64_t>(tokens.size()), .cache = CacheType::f32});
  const std::vector<NamedMatrix> traced = session.trace(tokens, Path::exact);
  const Matrix& hidden = traced.back().matrix;
  SessionMemory memory(backend, {&drafter->layer(), 1}, CacheType::f32, hidden.rows);
  memory.reserve(hidden.rows);
  Pass pass(backend, memory.layers(), 0, hidden.rows, hidden.rows);
  backend.begin({});
  const Tensor h = backend.scratch(hidden.rows, hidden.columns);
  backend.write(*h.buffer, h.offset * sizeof(float), hidden.data.data(), hidden.data.size() * sizeof(float));
  const Tensor logits = model->family().head(pass, drafter->draft(pass, next, h));
  backend.finish();
  Matrix out{logits.rows, logits.cols, std::vector<float>(static_cast<size_t>(logits.rows * logits.cols))};
  backend.read(out.data.data(), logits);
  return out;
}

}  // namespace longhand
