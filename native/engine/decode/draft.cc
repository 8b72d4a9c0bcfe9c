#include "engine/decode/draft.h"

#include <algorithm>

#include "engine/session.h"
#include "formats/error.h"

namespace longhand {

namespace {

struct Draft {
  Matrix hidden, logits;
};

Draft draft_once(Model& model, TimelineMemory& memory, int64_t first, std::span<const int32_t> next,
                 const Matrix& hidden) {
  Backend& backend = model.backend();
  Pass pass(backend, Segment{memory.layers(), first, hidden.rows, first + hidden.rows});
  backend.begin({});
  const Tensor h = model.architecture().drafter()->draft(pass, next, upload(backend, hidden));
  const Tensor logits = model.architecture().head(pass, h);
  backend.finish();
  return {read_back(backend, h), read_back(backend, logits)};
}

Matrix last_row(const Matrix& matrix) {
  return {1, matrix.columns, {matrix.data.end() - static_cast<ptrdiff_t>(matrix.columns), matrix.data.end()}};
}

}  // namespace

Matrix draft_logits(const std::shared_ptr<Model>& model, std::span<const int32_t> tokens, std::span<const int32_t> next,
                    int64_t steps) {
  const Drafter* drafter = model->architecture().drafter();
  if (!drafter) throw Unsupported("[draft] this model has no drafting head");
  if (tokens.size() != next.size() || tokens.empty()) {
    throw std::invalid_argument("[draft] there are " + std::to_string(tokens.size()) + " tokens and " +
                                std::to_string(next.size()) + " next tokens; the numbers must be equal");
  }
  model->check_tokens(next);
  const auto count = static_cast<int64_t>(tokens.size());
  Session session(model, {.context = count, .cache = CacheType::f32});
  TimelineMemory memory(model->backend(), {&drafter->layer(), 1}, CacheType::f32, count + steps);
  memory.reserve(count + steps);
  Draft draft = draft_once(*model, memory, 0, next, session.trace(tokens, Path::exact).back().matrix);
  Matrix all = draft.logits;
  for (int64_t step = 1; step < steps; ++step) {
    const Matrix row = last_row(draft.logits);
    const auto token = static_cast<int32_t>(std::ranges::max_element(row.data) - row.data.begin());
    draft = draft_once(*model, memory, count + step - 1, {&token, 1}, last_row(draft.hidden));
    all.data.insert(all.data.end(), draft.logits.data.begin(), draft.logits.data.end());
    ++all.rows;
  }
  return all;
}

}  // namespace longhand
