// Looking inside a session: logits of every position, the residual stream, the states. For tests and `longhand trace`.
#include <algorithm>

#include "engine/session.h"

namespace longhand {

Matrix Session::logits(std::span<const int32_t> prompt_tokens, const LogitsOptions& options) {
  timeline_.check_prompt(prompt_tokens);
  Placed placed = place(timeline_.model(), prompt_tokens, options.pictures);
  const std::span<const int32_t> tokens = placed.tokens;
  timeline_.clear();
  timeline_.show(std::move(placed.pictures));
  const int64_t total = static_cast<int64_t>(tokens.size());
  const int64_t prompt = std::max<int64_t>(total - options.generated, 0);
  const int64_t chunk = options.chunk > 0 ? options.chunk : prefill_chunk;
  Model& model = timeline_.model();
  Matrix all{0, model.facts().vocabulary, {}};
  while (timeline_.length() < total) {
    const int64_t first = timeline_.length();
    const bool reads = first < prompt;
    const int64_t count = reads ? timeline_.pictures().alike(first, std::min(chunk, prompt - first)) : 1;
    const Scored rows = options.all ? Scored::all : first + count == total ? Scored::last : Scored::none;
    const auto part = tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    const Tensor scores = timeline_.read(part, reads ? prompt : first + 1, rows, {options.path, options.cancel});
    if (!scores) continue;
    const Matrix values = read_back(model.backend(), scores);
    all.rows += values.rows;
    all.data.insert(all.data.end(), values.data.begin(), values.data.end());
  }
  return all;
}

// Each layer runs in a pass of its own, so that the residual stream can be read in between on any device.
std::vector<NamedMatrix> Session::trace(std::span<const int32_t> tokens, Path path, const std::atomic<bool>* cancel) {
  timeline_.check_prompt(tokens);
  timeline_.clear();
  Model& model = timeline_.model();
  const Architecture& architecture = model.architecture();
  Backend& backend = model.backend();
  const int64_t total = static_cast<int64_t>(tokens.size());
  timeline_.memory().reserve(total);
  Pass pass(backend, Segment{timeline_.memory().layers(), 0, total, total});
  std::vector<NamedMatrix> out;
  const auto run = [&](std::string name, const auto& step) {
    backend.begin({.path = path, .cancel = cancel});
    const Tensor result = step();
    backend.finish();
    out.push_back({std::move(name), read_back(backend, result)});
  };
  const auto resume = [&] { return upload(backend, out.back().matrix); };
  try {
    run("embedding", [&] { return architecture.embed(pass, tokens); });
    for (size_t i = 0; i < model.facts().layers.size(); ++i) {
      run("layer." + std::to_string(i), [&] { return architecture.layer(pass, i, resume()); });
    }
    run("final_norm", [&] { return architecture.final_norm(pass, resume()); });
  } catch (...) {
    timeline_.clear();
    throw;
  }
  timeline_.append(tokens, total, path);
  return out;
}

std::vector<NamedState> Session::states() {
  timeline_.memory().reserve(0);
  std::vector<NamedState> out;
  const auto add = [&](size_t layer, bool recurrent, std::vector<int64_t> shape, Buffer& buffer) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    NamedState state{static_cast<int64_t>(layer), recurrent, std::move(shape), std::vector<float>(count)};
    timeline_.model().backend().read(state.data.data(), buffer, 0, count * sizeof(float));
    out.push_back(std::move(state));
  };
  const std::span<LayerMemory> layers = timeline_.memory().layers();
  for (size_t i = 0; i < layers.size(); ++i) {
    for (Memory& memory : layers[i]) {
      if (auto* s = std::get_if<RecurrentState>(&memory)) {
        add(i, true, {s->layout.heads, s->layout.key_dim, s->layout.value_dim}, *s->state);
      } else if (auto* c = std::get_if<ConvState>(&memory)) {
        add(i, false, {c->layout.width - 1, c->layout.channels}, *c->window);
      }
    }
  }
  return out;
}

}  // namespace longhand
