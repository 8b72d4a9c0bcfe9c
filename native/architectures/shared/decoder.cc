#include "architectures/shared/decoder.h"

namespace longhand {

namespace {

// GGUF writers may omit the vocabulary size; the shape of the embedding gives it.
int64_t read_vocabulary(const Config& config, const Weights& weights) {
  const Key key{"vocab_size", "vocab_size"};
  if (config.gguf() && !config.has(key)) {
    if (const WeightView* table = weights.checkpoint().find("token_embd.weight")) return table->shape.front();
  }
  return config.integer(key, vocabulary_range);
}

std::string head_name(const Weights& weights) {
  if (weights.gguf()) return "output.weight";
  for (const char* name : {"lm_head.weight", "language_model.lm_head.weight", "model.lm_head.weight"}) {
    if (weights.has(name)) return name;
  }
  return "lm_head.weight";
}

}  // namespace

DecoderShape read_shape(const Config& config, const Weights& weights, const char* eps_key) {
  DecoderShape shape;
  shape.hidden = config.integer({"hidden_size", "embedding_length"}, width_range);
  shape.layers = config.integer({"num_hidden_layers", "block_count"}, layer_range);
  shape.vocabulary = read_vocabulary(config, weights);
  shape.context = config.integer({"max_position_embeddings", "context_length"}, context_range);
  shape.eps = config.number({eps_key, "attention.layer_norm_rms_epsilon"}, epsilon_range);
  shape.tied = config.flag_or({"tie_word_embeddings", nullptr}, config.flag_or({"tie_embedding", nullptr}, false));
  return shape;
}

Heads read_heads(const Config& config, int64_t hidden) {
  const Key kv_key{"num_key_value_heads", "attention.head_count_kv"};
  const Key dim_key{"head_dim", "attention.key_length"};
  Heads heads;
  heads.query = config.integer({"num_attention_heads", "attention.head_count"}, count_range);
  heads.kv = config.integer_or(kv_key, heads.query, count_range);
  config.require(heads.query % heads.kv == 0, std::to_string(heads.query) + " attention heads cannot share " +
                                                  std::to_string(heads.kv) +
                                                  " key-value heads (\"num_key_value_heads\")");
  if (config.has(dim_key)) {
    heads.dim = config.integer(dim_key, width_range);
  } else {
    config.require(hidden % heads.query == 0, "\"hidden_size\" " + std::to_string(hidden) + " cannot be divided by " +
                                                  std::to_string(heads.query) + " attention heads");
    heads.dim = std::max<int64_t>(hidden / heads.query, 1);
  }
  const Key value_key{nullptr, "attention.value_length"};
  config.require(config.integer_or(value_key, heads.dim, width_range) == heads.dim,
                 "\"attention.value_length\" differs from \"attention.key_length\"");
  return heads;
}

void Decoder::bind_ends(Weights& weights, const Config& config, const DecoderShape& shape, const std::string& norm_name,
                        bool add_one) {
  facts.hidden = shape.hidden;
  facts.vocabulary = shape.vocabulary;
  facts.context = shape.context;
  const std::string table = weights.top("embed_tokens.weight", "token_embd.weight");
  const std::string head = head_name(weights);
  final_norm_ = weights.norm(norm_name, shape.hidden, shape.eps, add_one);
  // Some untied checkpoints have no output matrix, and some tied ones have a copy of it.
  if (shape.tied || !weights.has(head)) {
    if (weights.has(head))
      weights.leave_out(head.c_str(), "the output matrix is tied to the embedding; its copy is not loaded");
    if (!shape.tied && !weights.gguf()) config.notice("there is no output matrix: the embedding is used");
    head_ = embedding_ = weights.matrix(table, shape.vocabulary, shape.hidden);
  } else {
    embedding_ = weights.embedding(table, shape.vocabulary, shape.hidden);
    head_ = weights.matrix(head, shape.vocabulary, shape.hidden);
  }
}

Tensor Decoder::embed(Pass& pass, std::span<const int32_t> tokens) const {
  return pass->embed(tokens, *embedding_, embed_scale_);
}

Tensor Decoder::final_norm(Pass& pass, Tensor x) const { return pass->rms_norm(x, final_norm_); }

Tensor Decoder::logits(Pass& pass, Tensor x) const { return pass->logits(x, *head_, final_norm_, logit_scale_); }

Tensor Decoder::head(Pass& pass, Tensor normalised) const {
  return pass->linear(normalised, *head_, {.scale = logit_scale_});
}

}  // namespace longhand
