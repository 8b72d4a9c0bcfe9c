// The contract between families and devices: one method a fused op, about one well-shaped GPU dispatch each. A forward
// pass is written once against it. `native/cpu` holds the scalar specification of every method; other back ends are
// compared with it (test/ops).
//
// Conventions. Shapes are [rows, cols], row-major; T is the number of tokens of this pass, one row a token. Activations
// are fp32. An op that reads and advances a state handles any T >= 1 and any split of a sequence into passes: feeding
// tokens in chunks gives the same numbers as feeding them at once. Results live in the arena of the running pass.
// Errors: std::runtime_error "[where] what came, what is allowed"; shapes are checked with assertions (our bugs).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/memory.h"
#include "ops/tensor.h"
#include "ops/weight.h"

namespace longhand {

// The largest shapes that a back end's kernels were written for; 0: any.
struct ShapeLimits {
  int64_t head = 0;   // dimension of an attention head
  int64_t state = 0;  // key or value dimension of a recurrent state
  int64_t taps = 0;   // width of a convolution
};
// Of the kernels in metal/ and native/vulkan/shaders.
inline constexpr ShapeLimits gpu_shapes{.head = 512, .state = 256, .taps = 8};

struct DeviceInfo {
  std::string back_end;        // "cpu" | "metal" | "vulkan"
  std::string name;            // "Intel Xeon ...", "Apple M2 Pro"
  std::string detail;          // the chosen instruction set, the GPU family, ...
  std::string instructions{};  // of a CPU: the set its kernels were chosen for
  std::string tuning;          // what was chosen for this very device, and by whom; "" where nothing is chosen
  uint64_t memory_bytes = 0;
  bool unified = true;
  ShapeLimits shapes{};
};

// ---- operands of ops ----------------------------------------------------------------------------------------------

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
// With `sections` (M-RoPE, interleaved selection) frequency j reads axis positions[j % 3 ...] as in model-specs 8.5;
// text has equal positions on the three axes, so sections only matter once images are fed.
struct Rope {
  enum class Pairing : uint8_t { half, interleaved } pairing = Pairing::half;
  int64_t rotary_dim = 0;        // 0: no rope
  BufferPtr inv_freq{};          // fp32 [rotary_dim / 2]
  float attention_scale = 1.0f;  // yarn: multiplies the rotated part of q and k
  int sections[3] = {0, 0, 0};
  BufferPtr selection{};  // MHA2MLA, optional: int32 [kv_heads, rotary_dim], the original dim each kept dim comes from
};

struct Heads {
  int64_t query = 0;
  int64_t kv = 0;
  int64_t dim = 0;
};

// What stands in the columns of the packed projection read by qk_norm_rope_store: queries (with `gated`, per head
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

// Gated DeltaNet (arXiv 2412.06464; model-specs 5.5, 7). p: [T, q | k | v | z | b | a].
struct GatedDelta {
  int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
  enum class HeadMap : uint8_t { grouped, tiled } head_map = HeadMap::grouped;  // HF, MLX: h / r; GGUF: h % key_heads
  BufferPtr
      conv{};  // fp32 [channels, width], newest tap last; channels = 2 * key_heads * key_dim + value_heads * value_dim
  int64_t conv_width = 4;
  BufferPtr decay{};    // fp32 [value_heads]: -exp(A_log)
  BufferPtr dt_bias{};  // fp32 [value_heads]
  Norm norm{};          // gated RMSNorm over value_dim, plain weight: norm -> * w -> * silu(z)
  // Added to the sum of squares, as transformers does: its numbers are the reference. llama.cpp takes max(norm, eps),
  // mlx-lm the eps of a mean, 128 times this; only vectors near zero tell them apart.
  float l2_eps = 1e-6f;

  int64_t channels() const { return 2 * key_heads * key_dim + value_heads * value_dim; }
  int64_t columns() const { return channels() + value_heads * value_dim + 2 * value_heads; }
};

// Simple GLA / lightning attention with a constant decay a head (model-specs 11.4, 12). o = scale * S^T q.
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

// Latent attention (MHA2MLA, model-specs 14). p: [T, q | k_rope | latent]; q in the original head order.
// up_k is absorbed into the query, up_v into the output: [kv_heads * (dim - rope), latent], [kv_heads * dim, latent].
struct MlaAttention {
  Heads heads;
  int64_t rope_dim = 0;                      // rotated dims a head (2r)
  int64_t latent_k = 0;                      // columns of the latent that up_k reads: [0, latent_k)
  int64_t latent_v_first = 0, latent_v = 0;  // columns that up_v reads (joint: the same)
  PlainMatrix up_k{}, up_v{};
  BufferPtr kept{}, rest{};  // int32 [kv_heads, rope_dim], [kv_heads, dim - rope_dim]: original dims, in column order
  Rope rope{};               // inv_freq [dim / 2] of the ORIGINAL head
  float scale = 0;
};

// InfLLM-v2 (model-specs 11.6).
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

// Mixture of experts (model-specs 6.3, 10.3).
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

struct KernelTime {
  uint64_t count = 0;
  double seconds = 0;
};

// ---- the back end -------------------------------------------------------------------------------------------------

struct PassOptions {
  Path path = Path::exact;
  const std::atomic<bool>* cancel = nullptr;  // checked between ops; a cancelled pass throws Cancelled
  bool async = false;                         // begins behind passes that are still running; ends with submit()
  bool warmup = false;                        // computes nothing, see compile_pending()
};
struct Cancelled {};

// In the ids of `embed`: the token that the pass before, still running, chose with `guess`.
inline constexpr int32_t guessed_token = -1;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual DeviceInfo device() const = 0;
  // Takes effect at the next pass; a back end without CPU threads has nothing to change.
  virtual void set_threads(int) {}
  // Bytes of expert stacks read since the start: what `expert_gate_up` and `expert_down` touched.
  virtual uint64_t expert_bytes_read() const { return 0; }
  // The most that one pass took so far for what lives as long as it; 0 where nobody counts.
  virtual uint64_t scratch_bytes() const { return 0; }

  // Memory and plumbing. Weights may stay views into the mapped file (`keep_alive` holds the mapping).
  virtual BufferPtr allocate(size_t bytes) = 0;  // zeroed; throws "[memory] ..." when there is none
  virtual void copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) = 0;
  virtual void write(Buffer& to, size_t offset, const void* from, size_t bytes) = 0;
  virtual void read(void* to, Buffer& from, size_t offset, size_t bytes) = 0;
  virtual void clear(Buffer& buffer) = 0;

  // One matrix from one or more views stacked by rows (same `in`); 3-D views are expert stacks (stacked along `out`).
  // A file with one tensor an expert: 2-D views in the order expert 0 (gate, up), expert 1 (gate, up), ..., and
  // `experts`.
  virtual WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                            int64_t experts = 1) = 0;

  // A pass brackets ops. begin() recycles the arena of activations; finish() returns when every result can be read.
  virtual void begin(const PassOptions& options) = 0;
  virtual void finish() = 0;
  virtual Tensor scratch(int64_t rows, int64_t cols) = 0;  // uninitialised, in the arena
  virtual void read(float* to, const Tensor& from) = 0;    // after finish(); [rows, cols] packed
  // Between layers: of all tensors of the running pass only x is still needed. Returns it, perhaps at another place.
  virtual Tensor recycle_except(Tensor x) { return x; }

  // Embedding rows: [T, in of table]. y = scale * table[id].
  virtual Tensor embed(std::span<const int32_t> ids, const Weight& table, float scale) = 0;

  // Norms as ops of their own (final hidden state, MTP, encoder).
  virtual Tensor rms_norm(Tensor x, const Norm& norm) = 0;
  virtual Tensor layer_norm(Tensor x, const LayerNorm& norm, Tensor add) = 0;  // norm(x + add); add may be empty

  // y = W x with everything that fuses around it. Returns [T, out], or add_to.
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
  // The three ops of lightning attention; q, k, v [T, heads * dim] are views. `gla` composes them (chunks of 64).
  virtual Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) = 0;
  virtual void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) = 0;
  virtual Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) = 0;
  virtual Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) = 0;
  virtual Tensor short_conv(Tensor p, const ShortConv& weights, ConvState& state) = 0;

  // Block-sparse attention.
  virtual void block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) = 0;
  // `total` is the key length the visibility rules of model-specs 11.6 refer to (the final prompt length in prefill).
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

  // Rows of the first, then of the next, all equally wide: what several timelines have computed each for itself. Only
  // where the back end takes turns.
  virtual Tensor stack(std::span<const Tensor> /*parts*/) {
    throw std::logic_error("[ops] stack: this back end reads one timeline in a pass");
  }
  // Columns of a, then columns of b (MTP head).
  virtual Tensor concat(Tensor a, Tensor b) = 0;

  // Chooses one token from a row of logits. `counts`: tokens of the penalty window; `biases`: sparse additions.
  virtual Sampled sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                         std::span<const TokenBias> biases) = 0;

  // Asynchronous decode: a device of its own is given the next decode step before the last one is done, so that it
  // never waits for the CPU. The pass chooses its token itself, as part of its work (`guess`), and the next pass reads
  // it from there. `sample` stays the judge: a step that was fed another token than it chose is taken back, which costs
  // time and nothing else. At most two passes are under way; both keep their results until the third begins.
  virtual bool decodes_async() const { return false; }
  // Between two passes of one timeline others may run: nothing of a pass is kept for the next but in its memory and the
  // scores, which are used at once. Elsewhere an answer is read and written to its end before the next begins.
  virtual bool takes_turns() const { return false; }
  // Encodes the choice. With `after_guess` the token guessed by the pass before is counted too: the caller knows it
  // later.
  virtual void guess(Tensor /*logits_row*/, const Sampling& /*options*/, std::span<const TokenCount> /*counts*/,
                     std::span<const TokenBias> /*biases*/, bool /*after_guess*/) {}
  // Ends a pass that began `async` without waiting for it.
  virtual void submit() {}
  // Waits for the oldest pass handed over; its results can be read. Returns its guess.
  virtual int32_t await_guess() { return 0; }
  // Waits for every pass handed over and forgets it, errors included.
  virtual void discard() {}
  // Time the device has worked since the start; 0 where the CPU is the device.
  virtual double device_seconds() const { return 0; }
  // Time of each kernel from here on: slower, since nothing runs side by side. False where the device gives no such
  // times.
  virtual bool profile() { return false; }
  virtual std::map<std::string, KernelTime> kernel_times() const { return {}; }

  // Where the system's own word that memory is short is to be had, `told` hears it, from any thread, until the end.
  virtual void on_memory_pressure(std::function<void(bool critical)> /*told*/) {}
  // Every weight of a model has been prepared.
  virtual void prepared() {}
  // What became of the file that keeps prepared weights for the next load.
  virtual PackedCacheStatus packed_cache_status() const { return PackedCacheStatus::none; }

  // Gives back what can be made again. Between passes; the results of those that are over are lost.
  virtual void release_caches() {}

  // A device that compiles its kernels when it meets them: a warmup computes nothing and notes what it would need,
  // compile_pending then compiles that on a thread of its own. `told` hears from there how many of all are ready; a
  // pass that needs one earlier compiles it, or waits for the one that is being compiled.
  virtual bool compiles_lazily() const { return false; }
  virtual void compile_pending(std::function<void(size_t done, size_t total)> /*told*/) {}
};

// Factories, one a back end; a build without it returns null and the reason.
struct Creation {
  std::unique_ptr<Backend> backend;
  std::string reason;  // why there is none
};
struct CpuOptions {
  int threads = 0;  // 0: physical performance cores within the cgroup limit
  std::string
      instructions;    // "" = best; "scalar", "sse42", "avx2", "avxvnni", "avx512", "amx", "neon", ... (LONGHAND_CPU)
  std::string packed;  // a file that keeps packed weights for the next load (cpu/packed_cache.h); "": none
  std::string model;   // that they are of: a file, or a folder of them
  uint64_t build = 0;  // which engine packed them
};
Creation create_cpu(const CpuOptions& options);
std::vector<std::string> cpu_instructions();  // what this processor has of them, best first; ends with "scalar"
Creation create_metal(bool standin);
Creation create_vulkan(int device_index);  // the best first
int count_vulkan();                        // usable or not

}  // namespace longhand
