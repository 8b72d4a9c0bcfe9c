// BERT-class encoders for embeddings (arXiv 1810.04805): bidirectional attention, norms behind the residuals. With a
// classifier of one label they are cross-encoders (BertForSequenceClassification).
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "architectures/architecture.h"
#include "architectures/registry.h"
#include "formats/utf8.h"

namespace longhand {

namespace {

class Bert : public Architecture, public Reranker {
 public:
  Bert(const Config& config, Weights& weights);
  Tensor embed(Pass& pass, std::span<const int32_t> tokens) const override;
  Tensor layer(Pass& pass, size_t index, Tensor x) const override;
  Tensor final_norm(Pass&, Tensor x) const override { return x; }
  Tensor logits(Pass&, Tensor) const override { throw std::logic_error("[bert] an encoder has no logits"); }
  Tensor head(Pass&, Tensor) const override { throw std::logic_error("[bert] an encoder has no head"); }
  bool encoder() const override { return true; }
  const Reranker* reranker() const override { return ranks_ ? this : nullptr; }
  std::vector<int32_t> places(int64_t count, int64_t second) const override;
  Tensor embed_pair(Pass& pass, std::span<const int32_t> tokens, std::span<const int32_t> places) const override;
  float score(std::span<const float> first) const override;

 private:
  struct Dense {
    WeightPtr weight;
    BufferPtr bias;
  };
  struct Layer {
    Dense qkv, out, up, down;
    LayerNorm attention_norm, norm;
  };
  Tensor linear(Pass& pass, Tensor x, const Dense& dense, Activation activation = Activation::none) const {
    return pass->linear(x, *dense.weight, {.bias = &dense.bias, .activation = activation});
  }

  std::vector<Layer> layers_;
  Heads heads_;
  Activation activation_ = Activation::gelu_erf;
  // score = classifier . tanh(pooler x + pooler_bias) + bias
  struct Head {
    std::vector<float> pooler, pooler_bias, classifier;  // [hidden, hidden], [hidden], [hidden]
    float bias = 0;
  };

  // positions_: the position table with the vector of token type 0 added; for cross-encoders followed by a second copy
  // with type 1 added.
  WeightPtr words_, positions_;
  LayerNorm norm_;
  bool ranks_ = false;
  Head head_;
};

Tensor Bert::embed(Pass& pass, std::span<const int32_t> tokens) const {
  return embed_pair(pass, tokens, pass.positions());
}

Tensor Bert::embed_pair(Pass& pass, std::span<const int32_t> tokens, std::span<const int32_t> places) const {
  return pass->layer_norm(pass->embed(tokens, *words_, 1.0f), norm_, pass->embed(places, *positions_, 1.0f));
}

std::vector<int32_t> Bert::places(int64_t count, int64_t second) const {
  std::vector<int32_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t i = static_cast<size_t>(second); i < rows.size(); ++i) rows[i] += static_cast<int32_t>(facts.context);
  return rows;
}

float Bert::score(std::span<const float> first) const {
  double score = head_.bias;
  for (size_t row = 0; row < first.size(); ++row) {
    double sum = head_.pooler_bias[row];
    for (size_t i = 0; i < first.size(); ++i) sum += double{head_.pooler[row * first.size() + i]} * double{first[i]};
    score += double{head_.classifier[row]} * std::tanh(sum);
  }
  return static_cast<float>(score);
}

Tensor Bert::layer(Pass& pass, size_t index, Tensor x) const {
  const Layer& layer = layers_[index];
  const Tensor p = linear(pass, x, layer.qkv);
  const Attention attention{heads_, 1.0f / std::sqrt(static_cast<float>(heads_.dim))};
  const Tensor o = pass->attention_bidirectional(p, attention, pass.lengths());
  x = pass->layer_norm(linear(pass, o, layer.out), layer.attention_norm, x);
  const Tensor f = linear(pass, linear(pass, x, layer.up, activation_), layer.down);
  return pass->layer_norm(f, layer.norm, x);
}

Activation read_activation(const Config& config) {
  const std::string name = config.text_or({"hidden_act", nullptr}, "gelu");
  config.require(name == "gelu" || name == "gelu_new" || name == "gelu_pytorch_tanh",
                 "\"hidden_act\" is \"" + printable(name) + "\", expected gelu, gelu_new or gelu_pytorch_tanh");
  return name == "gelu" ? Activation::gelu_erf : Activation::gelu_tanh;
}

// Old checkpoints call the parameters of a layer norm gamma and beta.
LayerNorm bind_norm(Weights& weights, const std::string& name, int64_t size, double eps) {
  const bool old = weights.has(name + ".gamma");
  return weights.layer_norm(name + (old ? ".gamma" : ".weight"), name + (old ? ".beta" : ".bias"), size, eps);
}

// The position table with a token type's vector added to every row, once for each of `kinds` types: [kinds * length,
// hidden].
WeightPtr bind_positions(Weights& weights, const std::string& position_name, const std::string& type_name,
                         int64_t length, int64_t types, int64_t hidden, int64_t kinds) {
  const std::vector<float> positions = weights.floats(position_name, {length, hidden});
  const std::vector<float> type = weights.floats(type_name, {types, hidden});
  const auto width = static_cast<size_t>(hidden);
  std::vector<float> table;
  table.reserve(positions.size() * static_cast<size_t>(kinds));
  for (size_t kind = 0; kind < static_cast<size_t>(kinds); ++kind) {
    for (size_t i = 0; i < positions.size(); ++i) table.push_back(positions[i] + type[kind * width + i % width]);
  }
  return weights.owned(std::move(table), kinds * length, hidden);
}

Bert::Bert(const Config& config, Weights& weights) {
  const int64_t hidden = config.integer({"hidden_size", "embedding_length"}, width_range);
  const int64_t layers = config.integer({"num_hidden_layers", "block_count"}, layer_range);
  const int64_t width = config.integer({"intermediate_size", "feed_forward_length"}, width_range);
  const int64_t length = config.integer({"max_position_embeddings", "context_length"}, context_range);
  const double eps = config.number({"layer_norm_eps", "attention.layer_norm_epsilon"}, epsilon_range);
  heads_.query = heads_.kv = config.integer({"num_attention_heads", "attention.head_count"}, count_range);
  config.require(hidden % heads_.query == 0, "\"hidden_size\" cannot be divided by \"num_attention_heads\"");
  config.only({"position_embedding_type", nullptr}, "absolute");
  activation_ = read_activation(config);
  const std::string words = weights.top("embeddings.word_embeddings.weight", "token_embd.weight");
  const WeightView* table = weights.checkpoint().find(words);
  const int64_t stored = table && !table->shape.empty() ? table->shape.front() : 1;
  const int64_t vocabulary = config.integer_or({"vocab_size", "vocab_size"}, stored, vocabulary_range);
  if (config.broken()) return;
  heads_.dim = hidden / heads_.query;
  config.require(heads_.dim <= gpu_shapes.head, "\"num_attention_heads\" gives heads of " + std::to_string(heads_.dim) +
                                                    ", expected at most " + std::to_string(gpu_shapes.head));
  facts.hidden = hidden;
  facts.vocabulary = vocabulary;
  facts.context = length;

  const std::string type_name = weights.top("embeddings.token_type_embeddings.weight", "token_types.weight");
  const WeightView* type_table = weights.checkpoint().find(type_name);
  const int64_t types = type_table && type_table->shape.size() == 2 ? type_table->shape.front() : 2;
  ranks_ = !weights.gguf() && weights.has("classifier.weight");
  config.require(!ranks_ || types >= 2, "\"type_vocab_size\" of a cross-encoder is 1, expected at least 2");
  if (config.broken()) return;
  words_ = weights.embedding(words, vocabulary, hidden);
  positions_ = bind_positions(weights, weights.top("embeddings.position_embeddings.weight", "position_embd.weight"),
                              type_name, length, types, hidden, ranks_ ? 2 : 1);
  norm_ = bind_norm(weights, weights.top("embeddings.LayerNorm", "token_embd_norm"), hidden, eps);
  for (int64_t i = 0; i < layers; ++i) {
    const LayerNames at{weights.gguf() ? "blk." + std::to_string(i) + "."
                                       : weights.top(("encoder.layer." + std::to_string(i) + ".").c_str(), ""),
                        weights.gguf()};
    const auto dense = [&](const char* hf, const char* gguf, int64_t out, int64_t in) {
      return Dense{weights.matrix(at(hf, gguf) + ".weight", out, in), weights.vector(at(hf, gguf) + ".bias", out)};
    };
    const std::string q = at("attention.self.query", "attn_q"), k = at("attention.self.key", "attn_k"),
                      v = at("attention.self.value", "attn_v");
    layers_.push_back(
        {.qkv = {weights.rows({{q + ".weight", hidden}, {k + ".weight", hidden}, {v + ".weight", hidden}}, hidden),
                 weights.vectors({{q + ".bias", hidden}, {k + ".bias", hidden}, {v + ".bias", hidden}})},
         .out = dense("attention.output.dense", "attn_output", hidden, hidden),
         .up = dense("intermediate.dense", "ffn_up", width, hidden),
         .down = dense("output.dense", "ffn_down", hidden, width),
         .attention_norm = bind_norm(weights, at("attention.output.LayerNorm", "attn_output_norm"), hidden, eps),
         .norm = bind_norm(weights, at("output.LayerNorm", "layer_output_norm"), hidden, eps)});
    facts.layers.push_back({LayerKind::encoder, false, {}});
  }
  if (ranks_) {
    const std::string pooler = weights.top("pooler.dense", "");
    head_ = {.pooler = weights.floats(pooler + ".weight", {hidden, hidden}),
             .pooler_bias = weights.floats(pooler + ".bias", hidden),
             .classifier = weights.floats("classifier.weight", {1, hidden})};
    const std::vector<float> bias = weights.floats("classifier.bias", 1);
    if (!bias.empty()) head_.bias = bias.front();
  } else {
    weights.leave_out(weights.top("pooler.", "pooler.").c_str(),
                      "the pooler is not part of the embedding and not loaded");
  }
  // Pre-training heads, and a buffer of position ids (0, 1, 2, ...).
  weights.leave_out("cls.", "the pre-training heads are not loaded");
  weights.leave_out(weights.top("embeddings.position_ids", "position_ids").c_str(),
                    "stored position numbers are not needed");
}

}  // namespace

std::unique_ptr<Architecture> make_bert(const Config& config, Weights& weights) {
  return std::make_unique<Bert>(config, weights);
}

}  // namespace longhand
