#include "engine/encode.h"

#include <cmath>

#include "engine/error.h"
#include "engine/pulse.h"
#include "formats/error.h"
#include "ops/error.h"

namespace longhand {

namespace {

void check_text(const Model& model, std::span<const int32_t> tokens, const std::string& where) {
  model.check_tokens(tokens);
  if (tokens.empty()) throw std::invalid_argument("[" + where + "] there are no tokens, expected at least 1");
  if (static_cast<int64_t>(tokens.size()) > model.facts().context) {
    throw ContextError("[" + where + "] the text has " + std::to_string(tokens.size()) + " tokens, this model reads " +
                       std::to_string(model.facts().context));
  }
}

// Checks the lengths of concatenated texts.
void check_texts(const Model& model, std::span<const int32_t> tokens, std::span<const int32_t> lengths,
                 const std::string& where) {
  size_t first = 0;
  for (const int32_t length : lengths) {
    if (length < 0 || static_cast<size_t>(length) > tokens.size() - first)
      throw std::invalid_argument("[" + where + "] the lengths do not add up to the number of tokens");
    check_text(model, tokens.subspan(first, static_cast<size_t>(length)), where);
    first += static_cast<size_t>(length);
  }
  if (first != tokens.size() || lengths.empty())
    throw std::invalid_argument("[" + where + "] the lengths do not add up to the number of tokens");
}

void check_finite(std::span<const float> values, const std::string& where) {
  for (const float value : values) {
    if (!std::isfinite(value))
      throw NotFinite("[" + where + "] the result is not finite: the weights of this model are damaged");
  }
}

// An encoder's states after its last layer: [tokens of all texts, hidden]. `begin` computes its first states.
template <class Begin>
Matrix last_states(Model& model, std::span<const int32_t> lengths, const std::atomic<bool>* cancel,
                   const Begin& begin) {
  Backend& backend = model.backend();
  Pass pass(backend, lengths);
  backend.begin({.cancel = cancel});
  Tensor x = begin(pass);
  for (size_t i = 0; i < model.facts().layers.size(); ++i) {
    x = pass->recycle_except(model.architecture().layer(pass, i, x));
    pulse.step();
  }
  backend.finish();
  return read_back(backend, x);
}

}  // namespace

Matrix embed(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> lengths,
             const std::atomic<bool>* cancel) {
  const Architecture& architecture = model.architecture();
  if (!architecture.encoder() || architecture.reranker()) {
    throw Unsupported(architecture.reranker()
                          ? "[embed] this model scores pairs of texts: embeddings come from other encoders"
                          : "[embed] this model writes text: embeddings come from encoders");
  }
  check_texts(model, tokens, lengths, "embed");
  const auto begin = [&](Pass& pass) { return architecture.embed(pass, tokens); };
  const Matrix states = last_states(model, lengths, cancel, begin);
  Matrix vectors{static_cast<int64_t>(lengths.size()), states.columns, {}};
  std::span<const float> left = states.data;
  for (const int32_t length : lengths) {
    const size_t values = static_cast<size_t>(length * states.columns);
    const std::vector<float> vector = pool(model.pooling(), left.first(values), states.columns);
    check_finite(vector, "embed");
    vectors.data.insert(vectors.data.end(), vector.begin(), vector.end());
    left = left.subspan(values);
  }
  return vectors;
}

std::vector<float> rank(Model& model, std::span<const int32_t> tokens, std::span<const int32_t> seconds,
                        std::span<const int32_t> lengths, const std::atomic<bool>* cancel) {
  const Reranker* reranker = model.architecture().reranker();
  if (!reranker) throw Unsupported("[rank] this model does not score pairs of texts: cross-encoders do");
  check_texts(model, tokens, lengths, "rank");
  if (seconds.size() != lengths.size())
    throw std::invalid_argument("[rank] there are " + std::to_string(lengths.size()) + " texts and " +
                                std::to_string(seconds.size()) + " starts of second texts");
  std::vector<int32_t> places;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (seconds[i] < 1 || seconds[i] >= lengths[i])
      throw std::invalid_argument("[rank] the second text begins at token " + std::to_string(seconds[i]) +
                                  ", expected 1 to " + std::to_string(lengths[i] - 1));
    const std::vector<int32_t> own = reranker->places(lengths[i], seconds[i]);
    places.insert(places.end(), own.begin(), own.end());
  }
  const auto begin = [&](Pass& pass) { return reranker->embed_pair(pass, tokens, places); };
  const Matrix states = last_states(model, lengths, cancel, begin);
  std::vector<float> scores;
  std::span<const float> left = states.data;
  for (const int32_t length : lengths) {
    scores.push_back(reranker->score(left.first(static_cast<size_t>(states.columns))));
    left = left.subspan(static_cast<size_t>(length * states.columns));
  }
  check_finite(scores, "rank");
  return scores;
}

}  // namespace longhand
