// The inner loops that exist once an instruction set. The scalar ones are the specification and stand in the file of
// their op family; the vector ones are templates over a vector type (vector_kernels.h), compiled once for each set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/tensor.h"
#include "ops/weight.h"

namespace longhand::cpu {

// A tile of y = W x: `rows` rows of W (in the element type of the kernel, one after the other) times `tokens` rows of
// x.
struct RowTile {
  const std::byte* weights;
  int64_t rows, in;
  const float* x;
  int64_t x_stride, tokens;
  float* y;
  int64_t y_stride;
};

// The same with bf16 weights and x rounded to bf16.
struct RoundedRowTile {
  const std::byte* weights;
  int64_t rows, in;
  const uint16_t* x;
  int64_t x_stride, tokens;
  float* y;
  int64_t y_stride;
};

// Query rows of some key/value heads against a run of keys; row r of each head sees the keys before limit[r].
// Continues an online softmax: o [heads, rows, dim] holds sum(exp(s - peak) v); sum and peak (at first -infinity) are
// one a row.
struct AttentionTile {
  const float* q;       // [heads, rows, dim], already times the scale
  int64_t heads, rows;  // at most 16 heads; their keys stand side by side
  int64_t dim;
  const std::byte *keys, *values;  // `count` of them, the first is key number `first`
  bool halves;                     // f16, else fp32
  int64_t stride;                  // elements from key to key
  int64_t first, count;
  const int64_t* limit;
  float *o, *peak, *sum;
};

// Rows of one head that see every key of their text. The keys stand in blocks of `turned_keys`, each [dim][turned_keys]
// with anything behind the last key.
inline constexpr int64_t turned_keys = 64, whole_rows = 64;
struct WholeAttentionTile {
  const float* q;  // [rows, dim], already times the scale; at most `whole_rows`
  int64_t rows, dim;
  const float* keys;
  const float* values;  // [count] by `value_stride`
  int64_t value_stride, count;
  float *o, *peak, *sum;  // as in AttentionTile
};

// Rows of one head that see every key of their text, rounded to bf16 (fast path): two of them in a word, the first in
// its low half. Keys and values stand in blocks of `turned_keys` keys.
inline constexpr int64_t rounded_rows = 32;
struct RoundedAttentionTile {
  const uint32_t* q;       // [pairs of dimensions][rounded_rows], times the scale and log2(e)
  const uint32_t* keys;    // blocks of [pairs of dimensions][turned_keys]
  const uint32_t* values;  // blocks of [turned_keys / 2][dim]: a pair is two keys, the last one may be beside nothing
  int64_t dim, count;      // of the last pair of dimensions, too, the second may be missing: zero then
  float* o;                // [dim][rounded_rows]
};

// Rows of one head against keys [first, first + count), rounded to bf16 (fast path); row r sees the keys
// before limits[r]. Continues an online softmax. `width` is the head's, up to a multiple of 32 with zeros; keys and
// values stand in blocks of `turned_keys`, zeros behind the last.
struct RoundedCausalTile {
  const uint32_t* q;       // [width / 2][rounded_rows] as in RoundedAttentionTile
  const uint16_t* keys;    // blocks of [turned_keys][width]
  const uint16_t* values;  // blocks of [width][turned_keys]
  int64_t width, first, count;
  const int32_t* limits;    // [rounded_rows]; all see key 0
  float *o, *peak, *total;  // [width][rounded_rows], [rounded_rows]: sum(2^(score - peak) v), -infinity at first
  float* out;               // after the last keys: o / total, [rounded_rows][width]; or null
};

// All tokens of some value columns of one head. S [key_dim, value_dim]; columns [first, first + count).
struct DeltaTile {
  float* S;
  int64_t key_dim, value_dim, first, count;
  const float* q;  // [tokens, key_dim] by `stride`, normalised and scaled
  const float* k;
  const float* v;  // [tokens, value_dim]
  int64_t stride, tokens;
  const float *decay, *beta;  // exp(g) and beta, one a token, `gate_stride` apart
  int64_t gate_stride;
  float* o;
  int64_t o_stride;
  const float* next = nullptr;  // the state that will probably be wanted next: may be fetched
};

// S <- decay S + k v^T;  o = scale S^T q
struct GlaTile {
  float* S;
  int64_t key_dim, value_dim;
  const float *q, *k, *v;
  int64_t q_stride, k_stride, v_stride, tokens;
  float decay, scale;
  float* o;
  int64_t o_stride;
};

// f16, bf16, f32: one scale (and one bias) a row and group. two_level (K-quants): f16 d (and dmin) a row and 256
// columns, times a small integer a row and group; the bias is -dmin * integer.
enum class ScaleKind : uint8_t { f16, bf16, f32, two_level };

// The scales of a panel as they are packed (panel.h).
struct PackedScales {
  ScaleKind kind;
  const std::byte *scales, *biases;  // [groups, 16], of two_level [supers, 16]; biases may be null
  const int8_t* integers;            // two_level: [groups, 16]; minima where there are biases
  const uint8_t* minima;
  int super_shift;  // group >> super_shift is its super
  float global;     // multiplies every scale
};

inline constexpr int64_t most_packed_tokens = 8;

// Codes of up to two panels times `tokens` rows of x; adds to sums [tokens][panels * 16]. `zero` is taken off a code.
// Fast: rounded activations; codes and scales as packed (panels `code_stride` apart), or codes unpacked (bits 8, no
// table) and scales decoded. Exact: fp32 activations, unpacked codes, decoded scales.
struct PanelTile {
  const uint8_t* codes = nullptr;  // blocks of a panel one after the other
  int bits = 8;
  const uint8_t* table = nullptr;
  const PackedScales* packed = nullptr;  // of the first panel; or null, then:
  const float* scales = nullptr;         // [panels][groups][16]
  const float* biases = nullptr;         // the same, or null
  int panels = 1;
  int64_t code_stride = 0, scale_stride = 0;  // from panel to panel
  int64_t blocks = 0, group = 0;
  int zero = 0;
  int code_bits = 8;  // of a code as it was before it was unpacked; 8 where it may exceed 127
  int64_t tokens = 0;
  // Fast: two rows of bytes a token, the high and the low ones (Kernels::quantise), by `x_stride`; scales and sums of
  // codes by `scale_step` and `sum_step`.
  const int8_t* x_codes = nullptr;
  const float* x_scales = nullptr;
  const int32_t* x_code_sums = nullptr;
  const uint8_t* x_low = nullptr;  // by `scale_step`: 0 where all low bytes of a block are zero; null: not told
  // The high bytes plus 128, 32 columns of a token beside those of the next; blocks by `block_stride`. Null: not there.
  const uint8_t* x_blocks = nullptr;
  int64_t block_stride = 0;
  const float* x = nullptr;  // exact: by `x_stride`; sums of 16 columns
  const float* x_sums = nullptr;
  int64_t x_stride = 0, scale_step = 0, sum_step = 0;
  float* sums = nullptr;
};

// Columns of one panel become bf16: (code - zero) * scale [+ bias], fused, rounded to the nearest, halves away from
// zero.
struct DecodeTile {
  const uint8_t* codes;  // as packed
  int bits;
  const uint8_t* table;
  int zero;
  const float *scales, *biases;  // [groups, 16]; biases may be null
  int64_t group, blocks;
  uint16_t* to;  // a tile a block, `decoded_block` numbers apart
};

// Decoded panels stand in pairs, so that two tiles share what they are multiplied with. A tile is [16 pairs of
// columns][16 rows][2]; a block of a pair is the tile of its first panel and that of its second.
inline constexpr int64_t decoded_tile = 512, decoded_block = 2 * decoded_tile;

// y[t][row] = or (adds) += W x[t] over some columns of decoded panels; numbers are added up as `rows_bf16_tiles` does.
struct DecodedTile {
  const uint16_t* weights;  // [pairs of panels][columns / 32][decoded_block]
  int64_t panels, columns;
  const uint16_t* x;  // by `x_stride`
  int64_t x_stride, tokens;
  float* y;  // whole panels
  int64_t y_stride;
  bool adds;
};

// Codes of `blocks` blocks, one byte each (panel.h).
struct UnpackTile {
  const uint8_t* from;
  int bits;
  const uint8_t* table;
  int64_t blocks;
  uint8_t* to;
};

// scale = d * integer, or with `minima` bias = -d * integer; groups [first, first + count) of 16 lanes.
struct TwoLevelTile {
  const std::byte* d;  // f16 [supers, 16]
  const int8_t* scales;
  const uint8_t* minima;
  int64_t first, count, groups_a_super;
  float* to;
};

// Causal depthwise convolution of some channels: y[t][c] = sum_j taps[c][j] inputs[t + j][c], the newest tap last.
struct ConvTile {
  const float* const* inputs;  // tokens + width - 1 rows, the oldest first
  const float* taps;           // [channels, width]
  int64_t width, channels, tokens;
  float* y;
  int64_t y_stride;
};

struct Kernels {
  const char* name;
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*add_scaled)(float* y, float a, const float* x, int64_t n);  // y += a x
  void (*rms_norm)(const float* x, const float* weight, float eps, int64_t n, float* y);
  void (*silu)(float* x, int64_t n);                           // x <- silu(x)
  void (*multiply_silu)(float* x, const float* z, int64_t n);  // x <- x silu(z)
  void (*multiply_sigmoid)(float* x, const float* z, int64_t n);
  void (*gelu_erf)(float* x, int64_t n);  // x <- gelu(x)
  void (*gelu_tanh)(float* x, int64_t n);
  float (*largest)(const float* x, int64_t n);
  double (*sum_exp)(const float* x, float peak, int64_t n);  // sum of exp(x - peak)
  void (*softmax)(float* x, int64_t n);
  void (*convolve)(const ConvTile& tile);
  void (*from_f16)(const std::byte* from, int64_t n, float* to);
  void (*to_f16)(const float* from, int64_t n, std::byte* to);  // to the nearest, ties to even
  void (*from_bf16)(const std::byte* from, int64_t n, float* to);
  void (*two_level)(const TwoLevelTile& tile);
  void (*unpack)(const UnpackTile& tile);
  // Rounds to 15 bits with a scale for every 32 columns: x = scale * code, code = round(x * 16256 / largest), as two
  // signed bytes, code = 128 high + low with low in [-64, 63]. Sums of 16 codes.
  void (*quantise)(const float* x, int64_t n, int8_t* high, int8_t* low, float* scales, int32_t* sums);
  void (*panel_fast)(const PanelTile& tile);
  int64_t packed_tokens;      // up to so many tokens panel_fast takes panels as packed rather than unpacked
  bool reads_blocks = false;  // for more tokens panel_fast reads PanelTile::x_blocks
  void (*panel_exact)(const PanelTile& tile);
  void (*rows_f32)(const RowTile& tile);
  void (*rows_f16)(const RowTile& tile);
  void (*rows_bf16)(const RowTile& tile);
  // Fast path, where the set multiplies bf16: null elsewhere (AMX has no attend_whole_rounded). What meets bf16 weights
  // is rounded, always or only when a prompt is read, and then what meets packed ones, too, if they can be decoded.
  bool rounds_when_reading = false;
  void (*round_bf16)(const float* x, int64_t n, uint16_t* to);
  void (*rows_bf16_rounded)(const RoundedRowTile& tile);
  void (*decode_bf16)(const DecodeTile& tile) = nullptr;
  void (*multiply_decoded)(const DecodedTile& tile) = nullptr;
  void (*attend_whole_rounded)(const RoundedAttentionTile& tile);
  // Causal attention while a prompt is read. `pair_columns` turns rounded_rows rows of bf16 into pairs of columns,
  // [width / 2][rounded_rows]; `turn_values` turns turned_keys rows into [width][turned_keys]. Widths are multiples of
  // 32.
  void (*pair_columns)(const uint16_t* rows, int64_t width, uint32_t* to) = nullptr;
  void (*turn_values)(const uint16_t* rows, int64_t width, uint16_t* to) = nullptr;
  void (*attend_causal_rounded)(const RoundedCausalTile& tile) = nullptr;
  void (*attend)(const AttentionTile& tile);
  void (*attend_whole)(const WholeAttentionTile& tile);
  void (*delta)(const DeltaTile& tile);
  void (*gla)(const GlaTile& tile);
  // Requests registers that the system grants on request only; null if the set needs none.
  bool (*permitted)() = nullptr;
};

extern const Kernels scalar_kernels;
// What this machine can run, best first; the last is scalar.
std::span<const Kernels* const> available_kernels();

}  // namespace longhand::cpu
