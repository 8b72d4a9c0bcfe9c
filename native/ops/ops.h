// The fused ops: one method each, about one well-shaped GPU dispatch. `native/cpu` holds the scalar specification of
// every method; other back ends are compared with it (test/ops).
//
// Conventions. Shapes are [rows, cols], row-major; T is the number of tokens of this pass, one row a token. Activations
// are fp32. An op that reads and advances a state handles any T >= 1 and any split of a sequence into passes: feeding
// tokens in chunks gives the same numbers as feeding them at once. Results live in the arena of the running pass.
// Errors: std::runtime_error "[where] what came, what is allowed"; shapes are checked with assertions (our bugs).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "ops/operands.h"

namespace longhand {

class Ops {
 public:
  virtual ~Ops() = default;

  // Embedding rows: [T, in of table]. y = scale * table[id].
  virtual Tensor embed(std::span<const int32_t> ids, const Weight& table, float scale) = 0;

  // Norms as ops of their own (final hidden state, MTP, encoder).
  virtual Tensor rms_norm(Tensor x, const Norm& norm) = 0;
  virtual Tensor layer_norm(Tensor x, const LayerNorm& norm, Tensor add) = 0;  // norm(x + add); add may be empty

  // y = W x with its fused prologue and epilogue. Returns [T, out], or add_to.
  virtual Tensor linear(Tensor x, const Weight& weight, const Linear& options = {}) = 0;
  // SwiGLU front half: W holds gate rows, then up rows. silu(gate) * up: [T, out / 2].
  virtual Tensor gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) = 0;
  // Scores over the vocabulary: [T, vocab] = scale * W norm(x). Pass only the rows that are wanted.
  virtual Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) = 0;

  // Softmax attention. `positions` is [T] (text) or [3 * T] (axes t, h, w).
  // Normalises and rotates q and k and appends k, v to the cache (cache.length grows by T). Returns q [T, heads * dim];
  // with `gated` the gate stays in p, see gate_columns().
  virtual Tensor qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                                    KvCache& cache) = 0;
  // The same without a cache, in place on p (lightning layers): q and k columns of p.
  virtual void qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) = 0;
  // The interleaved gates of a gated q projection, gathered: [T, heads * dim].
  virtual Tensor gate_columns(Tensor p, const Qkv& qkv) = 0;
  // Causal: row i of q is the token at cache.length - T + i. Returns [T, heads * dim].
  virtual Tensor attention(Tensor q, const KvCache& cache, const Attention& shape) = 0;
  // Encoder: p = [T, q | k | v] of texts one after the other, `lengths` rows each; every row sees every row of its
  // text.
  virtual Tensor attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) = 0;
  virtual Tensor mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                               LatentCache& cache) = 0;

  // Linear attention.
  // Causal depthwise convolution + SiLU over the first state.channels columns of p: [T, channels].
  virtual Tensor conv_silu(Tensor p, const Buffer& conv, ConvState& state) = 0;
  // The whole mixer between the in- and the out-projection: conv, SiLU, L2 norms, gates, delta rule, gated norm.
  // p: [T, q | k | v | z | b | a]. Returns [T, value_heads * value_dim].
  virtual Tensor gated_delta(Tensor p, const GatedDelta& weights, ConvState& conv, RecurrentState& state) = 0;
  // The next token of each of several timelines, a row and a memory each: the bits of gated_delta row by row.
  virtual Tensor gated_delta_each(Tensor p, const GatedDelta& weights, std::span<const DeltaMemory> memories) {
    std::vector<Tensor> rows;
    for (size_t i = 0; i < memories.size(); ++i)
      rows.push_back(
          gated_delta(p.row_range(static_cast<int64_t>(i), 1), weights, *memories[i].conv, *memories[i].state));
    return stack(rows);
  }
  // The three ops of lightning attention; q, k, v [T, heads * dim] are views. `gla` composes them (chunks of 64).
  virtual Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) = 0;
  virtual void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) = 0;
  virtual Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) = 0;
  virtual Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) = 0;
  virtual Tensor short_conv(Tensor p, const ShortConv& weights, ConvState& state) = 0;

  // Block-sparse attention.
  virtual void block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) = 0;
  // `total` is the key length the visibility rules refer to (the final prompt length in prefill).
  virtual BlockList block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape,
                                 int64_t first_position, int64_t total) = 0;
  virtual Tensor block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) = 0;

  // Mixture of experts. Only the bytes of chosen experts are read.
  virtual Routes route(Tensor x, const Norm* norm, const Router& router) = 0;
  virtual Tensor expert_gate_up(Tensor x, const Weight& experts, const Norm* norm,
                                const Routes& routes) = 0;  // [T * topk, I]
  // add_to += sum_i weight_i * W_i h_i
  virtual void expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) = 0;
  // add_to += sigmoid(x . gate) * shared, gate [1, hidden] (shared expert)
  virtual void add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) = 0;

  // Rows of the first, then of the next, all equally wide: results of several timelines. Only
  // if the back end takes turns.
  virtual Tensor stack(std::span<const Tensor> /*parts*/) {
    throw std::logic_error("[ops] stack: this back end reads one timeline in a pass");
  }
  // Columns of a, then columns of b (MTP head).
  virtual Tensor concat(Tensor a, Tensor b) = 0;

  // Chooses one token from a row of logits. `counts`: tokens of the penalty window; `biases`: sparse additions.
  virtual Sampled sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                         std::span<const TokenBias> biases) = 0;
};

}  // namespace longhand
