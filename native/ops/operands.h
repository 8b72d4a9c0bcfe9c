// Operands of ops beside tensors: their shapes, weights and options.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/memory.h"
#include "ops/params.h"
#include "ops/tensor.h"
#include "ops/weight.h"

namespace longhand {

// The largest shapes that a back end's kernels support; 0: any.
struct ShapeLimits {
  int64_t head = 0;   // dimension of an attention head
  int64_t state = 0;  // key or value dimension of a recurrent state
  int64_t taps = 0;   // width of a convolution
};
// Of the kernels in metal/ and native/vulkan/shaders.
inline constexpr ShapeLimits gpu_shapes{.head = MAX_HEAD_DIM, .state = MAX_STATE_DIM, .taps = 8};

// y = x * rsqrt(mean(x^2) + eps) * w. `weight` is fp32 and already holds the effective gain (1 + w for RMS-1p
// families).
struct Norm {
  BufferPtr weight{};
  float eps = 1e-6f;
};
struct LayerNorm {
  BufferPtr weight{}, bias{};
  float eps = 1e-12f;
};

enum class Activation : uint8_t { none, silu, gelu_erf, gelu_tanh };
enum class Gate : uint8_t { none, sigmoid, silu };

// Options of `linear`, applied in this order: norm(x) -> * gate -> W -> + bias -> activation -> * scale -> + add_to.
struct Linear {
  const Norm* norm = nullptr;  // over the whole row of x
  Tensor gate{};               // [T, in]; x <- x * g(gate), after the norm
  Gate gate_kind = Gate::none;
  const BufferPtr* bias = nullptr;  // fp32 [out]
  Activation activation = Activation::none;
  float scale = 1.0f;
  Tensor add_to{};  // residual stream [T, out], updated in place and returned
};

// Rotary positions. `pairing`: half = (i, i + rotary_dim/2); interleaved = (2i, 2i+1) (GGUF arch llama).
// inv_freq holds rotary_dim/2 values with every scaling (linear, llama3, yarn, rope_freqs) already applied.
// With `sections` (M-RoPE, interleaved selection) frequency j reads axis positions[j % 3 ...];
// text has equal positions on the three axes, so sections only matter once images are fed.
struct Rope {
  enum class Pairing : uint8_t { half, interleaved } pairing = Pairing::half;
  int64_t rotary_dim = 0;        // 0: no rope
  BufferPtr inv_freq{};          // fp32 [rotary_dim / 2]
  float attention_scale = 1.0f;  // yarn: multiplies the rotated part of q and k
  int sections[3] = {0, 0, 0};
  BufferPtr
      selection{};  // MHA2MLA, optional: int32 [kv_heads, rotary_dim], the original dim each retained dim comes from
};

struct Heads {
  int64_t query = 0;
  int64_t kv = 0;
  int64_t dim = 0;
};

// The columns of the packed projection read by qk_norm_rope_store: queries (with `gated`, per head
// [query dim | gate dim]), then keys, then values.
struct Qkv {
  Heads heads;
  bool gated = false;
  const Norm* q_norm = nullptr;  // per head, before rope
  const Norm* k_norm = nullptr;
};

struct Attention {
  Heads heads;
  float scale = 0;  // usually dim^-0.5
};

// Gated DeltaNet (arXiv 2412.06464; modeling_qwen3_5.py). p: [T, q | k | v | z | b | a].
struct GatedDelta {
  int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
  enum class HeadMap : uint8_t { grouped, tiled } head_map = HeadMap::grouped;  // HF, MLX: h / r; GGUF: h % key_heads
  BufferPtr
      conv{};  // fp32 [channels, width], newest tap last; channels = 2 * key_heads * key_dim + value_heads * value_dim
  int64_t conv_width = 4;
  BufferPtr decay{};    // fp32 [value_heads]: -exp(A_log)
  BufferPtr dt_bias{};  // fp32 [value_heads]
  Norm norm{};          // gated RMSNorm over value_dim, plain weight: norm -> * w -> * silu(z)
  // Added to the sum of squares, as in transformers, which is the reference. llama.cpp takes max(norm, eps),
  // mlx-lm the eps of a mean, 128 times this; they differ only for vectors near zero.
  float l2_eps = 1e-6f;

  int64_t channels() const { return 2 * key_heads * key_dim + value_heads * value_dim; }
  int64_t columns() const { return channels() + value_heads * value_dim + 2 * value_heads; }
};

// Simple GLA / lightning attention with a constant decay a head (arXiv 2401.04658). o = scale * S^T q.
struct Gla {
  int64_t heads = 0, key_dim = 0, value_dim = 0;
  float scale = 0;
  BufferPtr slopes{};  // fp32 [heads]: s > 0, decay a token exp(-s)
};

// LFM2 short convolution. p: [T, B | C | X], u = B * X, y = C * conv(u). No activation.
struct ShortConv {
  int64_t channels = 0;
  int64_t width = 3;
  BufferPtr conv{};  // fp32 [channels, width], newest tap last
};

// A matrix by rows, as its file stores it where that is a plain float type: fp32, fp16 or bf16.
struct PlainMatrix {
  BufferPtr values{};
  DType type = DType::f32;
};

// Latent attention (MHA2MLA, arXiv 2502.14837). p: [T, q | k_rope | latent]; q in the original head order.
// up_k is absorbed into the query, up_v into the output: [kv_heads * (dim - rope), latent], [kv_heads * dim, latent].
struct MlaAttention {
  Heads heads;
  int64_t rope_dim = 0;                      // rotated dims a head (2r)
  int64_t latent_k = 0;                      // columns of the latent that up_k reads: [0, latent_k)
  int64_t latent_v_first = 0, latent_v = 0;  // columns that up_v reads (joint: the same)
  PlainMatrix up_k{}, up_v{};
  BufferPtr retained{},
      rest{};   // int32 [kv_heads, rope_dim], [kv_heads, dim - rope_dim]: original dims, in column order
  Rope rope{};  // inv_freq [dim / 2] of the ORIGINAL head
  float scale = 0;
};

// InfLLM-v2 (arXiv 2509.24663).
struct BlockSparse {
  Heads heads;
  int64_t block = 64, kernel = 32, stride = 16, init_blocks = 1, window = 2048, topk = 64;
  float scale = 0;
  int64_t effective_topk() const { return topk + window / block; }
};
// Selected blocks: int32 [T * kv_heads, effective_topk], ascending, -1 where fewer; valid until the pass ends.
struct BlockList {
  Buffer* blocks = nullptr;
  size_t offset = 0;
  int64_t rows = 0, topk = 0;
};

// Mixture of experts (modeling_qwen3_5_moe.py, modeling_lfm2.py).
struct Router {
  enum class Kind : uint8_t { softmax, sigmoid_bias } kind = Kind::softmax;
  WeightPtr weight{};  // [experts, hidden]
  BufferPtr bias{};    // fp32 [experts]; selection only (sigmoid_bias)
  int64_t experts = 0, topk = 0;
  bool renormalise = true;
  float renormalise_eps = 0.0f;  // added to the sum (lfm2_moe: 1e-6)
  float scale = 1.0f;
};
// Chosen experts of a pass: ids int32 [T, topk], weights fp32 [T, topk].
struct Routes {
  Buffer* ids = nullptr;
  size_t ids_offset = 0;
  Tensor weights{};
  int64_t topk = 0;
};

// ---- sampling -----------------------------------------------------------------------------------------------------

struct TokenCount {
  int32_t id;
  int32_t count;
};
struct TokenBias {
  int32_t id;
  float bias;  // added to the logit; -inf forbids
};
// Order: repetition -> frequency and presence -> bias (DRY, grammar) -> temperature -> top-k -> top-p -> min-p -> pick.
struct Sampling {
  float temperature = 0.0f;  // 0: argmax, the lowest id wins a tie
  int32_t top_k = 0;         // 0: off
  float top_p = 1.0f;
  float min_p = 0.0f;
  float repetition_penalty = 1.0f, presence_penalty = 0.0f, frequency_penalty = 0.0f;
  uint64_t seed = 0;
  uint64_t position = 0;                // randomness is a function of (seed, position) only
  int32_t logprobs = 0;                 // how many alternatives to report
  std::span<const uint32_t> allowed{};  // a bit a token; empty: all of them
};
struct Candidate {
  int32_t id;
  float logprob;  // of the distribution before temperature and filters
};
struct Sampled {
  Candidate token;
  std::vector<Candidate> top;
};

// In the ids of `embed`: the token that the pass before, still running, chose with `guess`.
inline constexpr int32_t guessed_token = -1;

}  // namespace longhand
