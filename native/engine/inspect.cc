// Looking inside a session: logits of every position, the residual stream, the states. For tests and `longhand trace`.
#include <algorithm>

#include "engine/session.h"

namespace longhand {

namespace {

constexpr int64_t default_chunk = 512;

Matrix read_back(Backend& backend, const Tensor& tensor) {
  Matrix out{tensor.rows, tensor.cols, std::vector<float>(static_cast<size_t>(tensor.rows * tensor.cols))};
  backend.read(out.data.data(), tensor);
  return out;
}

}  // namespace

Matrix Session::logits(std::span<const int32_t> tokens, const LogitsOptions& options) {
  start_over(tokens);
  const int64_t total = static_cast<int64_t>(tokens.size());
  const int64_t prompt = std::max<int64_t>(total - options.generated, 0);
  const int64_t chunk = options.chunk > 0 ? options.chunk : default_chunk;
  Matrix all{0, model_->facts().vocabulary, {}};
  while (held() < total) {
    const bool reads = held() < prompt;
    const int64_t count = reads ? std::min(chunk, prompt - held()) : 1;
    const bool last = held() + count == total;
    const Scored rows = options.all ? Scored::all : last ? Scored::last : Scored::none;
    const Tensor part = advance(tokens.subspan(static_cast<size_t>(held()), static_cast<size_t>(count)),
                                reads ? prompt : held() + 1, rows, {options.path, options.cancel});
    if (!part) continue;
    const Matrix values = read_back(model_->backend(), part);
    all.rows += values.rows;
    all.data.insert(all.data.end(), values.data.begin(), values.data.end());
  }
  return all;
}

// Every layer is a pass of its own, so that the stream can be read in between on any device.
std::vector<NamedMatrix> Session::trace(std::span<const int32_t> tokens, Path path) {
  start_over(tokens);
  const Family& family = model_->family();
  Backend& backend = model_->backend();
  const int64_t total = static_cast<int64_t>(tokens.size());
  memory_.reserve(total);
  Pass pass(backend, memory_.layers(), 0, total, total);
  std::vector<NamedMatrix> out;
  const auto run = [&](std::string name, const auto& step) {
    backend.begin({.path = path});
    const Tensor result = step();
    backend.finish();
    out.push_back({std::move(name), read_back(backend, result)});
  };
  const auto resume = [&] {
    const Matrix& last = out.back().matrix;
    const Tensor x = backend.scratch(last.rows, last.columns);
    backend.write(*x.buffer, x.offset * sizeof(float), last.data.data(), last.data.size() * sizeof(float));
    return x;
  };
  try {
    run("embedding", [&] { return family.embed(pass, tokens); });
    for (size_t i = 0; i < model_->facts().layers.size(); ++i) {
      run("layer." + std::to_string(i), [&] { return family.layer(pass, i, resume()); });
    }
    run("final_norm", [&] { return family.final_norm(pass, resume()); });
  } catch (...) {
    reset();
    throw;
  }
  passes_.push_back({total, total, path});
  const std::lock_guard lock(published_);
  tokens_.assign(tokens.begin(), tokens.end());
  return out;
}

std::vector<NamedState> Session::states() {
  memory_.reserve(0);
  std::vector<NamedState> out;
  const auto add = [&](size_t layer, bool recurrent, std::vector<int64_t> shape, Buffer& buffer) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    NamedState state{static_cast<int64_t>(layer), recurrent, std::move(shape), std::vector<float>(count)};
    model_->backend().read(state.data.data(), buffer, 0, count * sizeof(float));
    out.push_back(std::move(state));
  };
  const std::span<LayerMemory> layers = memory_.layers();
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
