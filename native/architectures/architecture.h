// The interface between the engine and a model architecture. Adding one: CONTRIBUTING.md, "add a family".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "architectures/shared/pass.h"
#include "architectures/vision/vision.h"
#include "ops/memory.h"

namespace longhand {

// As in native/addon/index.d.ts.
enum class LayerKind : uint8_t { attention, gated_delta, lightning, sparse, short_conv, latent, encoder };
const char* name_of(LayerKind kind);

struct LayerFacts {
  LayerKind kind = LayerKind::attention;
  bool experts = false;
  std::vector<MemoryLayout> memory;
};

// Block-sparse attention depends on the prompt's length (arXiv 2509.24663): a prefill that reaches `dense_below` tokens
// uses sparse attention for every query, and agrees with a dense prefill only for the first `coverage` tokens.
struct SparseRule {
  int64_t dense_below = 0;
  int64_t coverage = 0;
};

struct Facts {
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t context = 0;  // the length the model was made for
  std::vector<LayerFacts> layers;
  std::optional<SparseRule> sparse;
};

// A head that drafts the token after next (Qwen3.5 MTP, vLLM, qwen3_5_mtp.py).
class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual const LayerFacts& layer() const = 0;
  // Row i of `hidden` (after the final norm) belongs to the token before next[i]. `pass` holds this head's own memory
  // as layer 0. Returns the head's hidden state after its norm; Architecture::head turns it into logits.
  virtual Tensor draft(Pass& pass, std::span<const int32_t> next, Tensor hidden) const = 0;
};

// Reads two texts together and scores how well the second answers the first (a cross-encoder).
class Reranker {
 public:
  virtual ~Reranker() = default;
  // Rows of the position table for `count` tokens; tokens from `second` on belong to the second text.
  virtual std::vector<int32_t> places(int64_t count, int64_t second) const = 0;
  virtual Tensor embed_pair(Pass& pass, std::span<const int32_t> tokens, std::span<const int32_t> places) const = 0;
  // The score of the first token's last state [hidden]; higher is better.
  virtual float score(std::span<const float> first) const = 0;
};

class Architecture {
 public:
  virtual ~Architecture() = default;

  Facts facts;

  // The residual stream x is [tokens, hidden]. A layer may update it in place; it returns the tensor that holds the
  // stream afterwards.
  virtual Tensor embed(Pass& pass, std::span<const int32_t> tokens) const = 0;
  virtual Tensor layer(Pass& pass, size_t index, Tensor x) const = 0;
  virtual Tensor final_norm(Pass& pass, Tensor x) const = 0;
  // Logits [rows, vocabulary] of the selected rows of x; applies the final norm.
  virtual Tensor logits(Pass& pass, Tensor x) const = 0;
  // Logits of hidden states that are already normalised (drafting).
  virtual Tensor head(Pass& pass, Tensor normalised) const = 0;

  virtual const Drafter* drafter() const { return nullptr; }
  // Null if the model has no vision tower. Not const because the tower's weights are loaded on first use.
  virtual Vision* vision() const { return nullptr; }
  virtual bool encoder() const { return false; }
  virtual const Reranker* reranker() const { return nullptr; }
};

}  // namespace longhand
