// Arguments shared by the Metal kernels (metal/*.metal), the Vulkan shaders (native/vulkan/shaders) and their hosts:
// one struct a kernel, sizes in elements unless the name says bytes, strides between rows. Function constants (in
// Vulkan: specialisation constants) carry flags, and sizes that a kernel needs at compile time; their indices are
// below.
#ifndef VULKAN
#pragma once
#endif

#if defined(__METAL_VERSION__)
#include <metal_stdlib>
#elif defined(VULKAN)  // GLSL: no enums, and no 64-bit numbers on every device: two words, the low one first
#define ulong uvec2
#define in columns
#else
#include <cstdint>
namespace longhand::params {
using uint = uint32_t;
using ulong = uint64_t;
#endif

// The largest shapes that the kernels hold in threadgroup memory (gpu_shapes in operands.h).
#define MAX_HEAD_DIM 512     // an attention head
#define MAX_STATE_DIM 256    // key or value dimension of a recurrent state
#define MAX_STEP_VALUES 256  // value columns of one gated_delta_step threadgroup

#define LATENT_SLICE 512  // elements of a latent that a threadgroup takes

#ifndef VULKAN

// ---- function constants -------------------------------------------------------------------------------------------

enum ConstantIndex {
  kTokens = 0,        // uint: rows of x a matvec handles at once, 1..8
  kHasNorm = 1,       // bool: RMS norm of x before the product
  kGateKind = 2,      // uint: Gate (none, sigmoid, silu)
  kHasBias = 3,       // bool
  kActivation = 4,    // uint: Activation
  kAddTo = 5,         // bool: y += instead of y =
  kSwiGlu = 6,        // bool: rows r and r + out / 2 become silu(gate) * up
  kByExpert = 7,      // bool: the matrix is chosen by a list of expert ids
  kGroup = 8,         // uint: elements that share a scale (MLX)
  kScaleType = 9,     // uint: 0 f32, 1 f16, 2 bf16 (scales of MLX, matrices of latent attention)
  kDim = 10,          // uint: head dimension
  kCausal = 11,       // bool
  kSparse = 12,       // bool: keys come from a list of blocks
  kGated = 13,        // bool: queries and gates interleaved by head
  kInPlace = 14,      // bool: rotated heads go back to where they came from, nothing is stored
  kInterleaved = 15,  // bool: rope pairs (2i, 2i + 1)
  kHasKeyNorm = 16,   // bool
  kSilu = 17,         // bool: SiLU after the convolution
  kProduct = 18,      // bool: the short convolution of B * X, times C
  kTiled = 19,        // bool: value head h reads key head h % key_heads (GGUF), not h / group
  kSigmoid = 20,      // bool: router scores are sigmoids
  kHeads = 21,        // uint: query heads of one group an attention threadgroup takes
  kGreedy = 22,       // bool: the highest score, the lowest id of equals
  kDelta = 23,        // bool: a chunk of the delta rule, not of GLA
  kMatvecRows = 24,   // uint: output rows a simdgroup of a matvec, 4 or 8
  kDeltaSlices = 25,  // uint: threadgroups that share a key head's value columns in a step of the delta rule
  kNormApart = 26,    // bool: whose gated norm is a dispatch of its own
  kConstantCount,
};

// Tile sizes the host needs for its grids.
enum Tile {
  kRowsPerSimdgroup = 4,  // matvec: output rows a simdgroup (Metal: tuned by device)
  kMatvecSimdgroups = 2,  // matvec: simdgroups a threadgroup (Metal: tuned by device)
  kMatvecTokens = 8,      // up to here the matvec is used, above the tiled matmul
  kTile = 32,             // matmul: tokens and outputs a threadgroup
  kHalfTile = 64,         // outputs a threadgroup, in halves
  kTensorTile = 64,       // tokens, outputs and columns a threadgroup, by tensor operations
  kDeltaLanes = 4,        // delta rule: lanes that share a column of the state
  kAttentionSimdgroups = 8,
  kAttentionRows = 4,       // query rows that share the keys a threadgroup reads
  kAttentionTile = 32,      // prefill: query rows a threadgroup
  kAttentionTileHeads = 8,  // of which this many may be heads of one token
  kAttentionRest = 48,      // last dimensions of a head of 256 whose queries do not fit into registers
  kAttentionSplit = 1024,   // keys one threadgroup walks over before another takes part
  kLatentSlice = LATENT_SLICE,
  kConvTokens = 32,  // convolution: tokens a thread walks over
  kGlaRows = 8,      // GLA: query rows a threadgroup
  kGlaChunk = 64,
  kMostGroupedExperts = 1024,  // above, every row looks up its experts itself
  kSelectThreads = 128,
  kSampleTile = 256,        // tokens a threadgroup of the first sampling kernel looks at
  kSampleCandidates = 1024  // tokens that are ordered
};

#endif

// ---- weights ------------------------------------------------------------------------------------------------------

// Rows [first, first + rows) of a stacked matrix, in a bound buffer. MLX codes have scales (and biases) of their own.
struct WeightSegment {
  ulong data, scales, biases;              // byte offsets
  ulong expert_bytes, expert_scale_bytes;  // from one expert to the next
  ulong row_bytes, row_scale_bytes;
  uint first, rows;
  float global_scale;
  uint unused;
};

// y[t, r] (+)= scale * act(W[r] . norm(x[t]) * gate + bias)
struct LinearParams {
  uint in, rows;  // of this part of the matrix
  uint tokens;
  uint x_stride, y_stride, gate_stride;
  uint segments;       // an expert
  uint expert_tables;  // 1: every expert has its own segments
  uint topk;           // slots a token, with experts
  float eps, scale;
};

struct EmbedParams {
  uint in, segments, y_stride;
  float scale;
};

// add_to[t] += sum_i weight[t, i] * W[ids[t, i]] h[t * topk + i]
struct ExpertDownParams {
  uint in, rows, topk, segments, expert_tables;
  uint h_stride, weight_stride, y_stride;
};

#ifndef VULKAN
// Metal's matvecs: `only` is the segment of a matrix that has a single one, so that no table is read.
struct LinearVecParams {
  LinearParams linear;
  WeightSegment only;
};
struct ExpertDownVecParams {
  ExpertDownParams down;
  WeightSegment only;
};
// And x of a product in halves, packed: LinearParams::x_stride counts halves then.
struct PackParams {
  uint in, x_stride, gate_stride, y_stride;
  float eps;
};
#endif

// ---- rows ---------------------------------------------------------------------------------------------------------

struct NormParams {
  uint n, x_stride, y_stride, add_stride;
  float eps;
};

// y[t, c] (op)= x[t, c], and similar ops that touch every element once.
struct RowsParams {
  uint rows, cols, x_stride, y_stride, z_stride;
};
struct CopyParams {
  ulong bytes;
};

// ---- attention ----------------------------------------------------------------------------------------------------

struct RopeParams {
  uint tokens, query, kv, rotary_dim;
  uint p_stride, q_stride;
  uint position_axes;  // 1 or 3
  uint section_h, section_w;
  uint first_row;  // of the cache
  uint row_bytes, head_bytes;
  float eps, key_eps, attention_scale;
};

struct AttentionParams {
  uint tokens, query, group;  // query heads, query heads a key/value head
  uint q_stride, o_stride;
  uint first_visible;  // keys that row 0 sees; each later row sees one more when causal
  uint splits, split_keys;
  uint key_row_bytes, head_bytes;
  uint topk, block;  // sparse: blocks a list, keys a block
  float scale;
};

struct MlaParams {
  uint tokens, query, kv, dim, rope_dim;
  uint latent_k, latent_v_first, latent_v;
  uint rope_width, latent_width;
  uint p_stride, o_stride;
  uint past;
  uint rope_row_bytes, latent_row_bytes;
  float scale, attention_scale;
};

// ---- linear attention ---------------------------------------------------------------------------------------------

// Depthwise convolution over [window | x].
struct ConvParams {
  uint tokens, channels, width;
  uint x_stride, y_stride;
};

struct GatedDeltaParams {
  uint tokens, key_heads, value_heads, key_dim, value_dim;
  uint p_stride;    // of the packed projection
  uint qkv_stride;  // of q | k | v after the convolution
  uint o_stride, conv_width;
  float l2_eps, norm_eps;
};

struct GlaParams {
  uint tokens, heads, key_dim, value_dim;
  uint q_stride, k_stride, v_stride, o_stride;
  float scale;
};

// Chunks of 64 tokens of either, in two steps; `part_floats`: what the first leaves for the second, a chunk of a head.
struct ChunkParams {
  uint tokens, key_heads, heads, key_dim, value_dim;
  uint q_stride, k_stride, v_stride, gates_stride, o_stride, part_floats;
  float scale, l2_eps;
};

// ---- sparse attention, experts ------------------------------------------------------------------------------------

struct CompressParams {
  uint first, kernel_size, stride, heads, dim;
  uint row_bytes, head_bytes;
};
struct SelectParams {
  uint tokens, query, kv, dim, q_stride;
  uint k1_length, k2_length, kernel_size, stride, block, init_blocks, local_blocks, topk;
  uint first_position, scores_stride, blocks_stride;
  float scale;
};
// Up to kTile slots that chose the same expert: order[first .. first + count).
struct ExpertTile {
  uint expert, first, count;
};
struct GroupParams {
  uint experts, slots, tile, tiles;
};
struct CombineParams {
  uint tokens, cols, topk;
  uint h_stride, weight_stride, y_stride;
};
struct RouteParams {
  uint experts, topk, logits_stride, renormalise;
  float renormalise_eps, scale;
  uint has_bias;
};

// ---- sampling -----------------------------------------------------------------------------------------------------

struct SampleParams {
  uint vocabulary, counts, biases;  // lists: words of 2, ascending by id
  uint after_guess;                 // 1: the token of the pass before counts once more
  uint top_k;                       // 0: off
  float repetition, presence, frequency;
  float temperature, top_p, min_p;
  float random;  // in [0, 1)
};

#if defined(VULKAN)
#undef in
#undef ulong
#elif !defined(__METAL_VERSION__)
}  // namespace longhand::params
#endif
