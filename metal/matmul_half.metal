// y = W x for many rows of x in halves, on the fast path: the form of llama.cpp's and MLX's kernels. Elements of W and
// x are rounded to 11 bits, products are summed in fp32. A tile is 64 outputs by 32 tokens, twice that of matmul.metal:
// a simdgroup makes 8 products of what it loads 6 matrices for, there 4 of 4; half the bytes pass through threadgroup
// memory. x comes packed (pack.metal): without it every tile of outputs would norm, gate and round the same rows again.
#include "shared/blocks.h"
#include "shared/instantiate.h"

#include <metal_simdgroup_matrix>

constant bool HAS_BIAS [[function_constant(3)]];
constant uint ACTIVATION [[function_constant(4)]];
constant bool ADD_TO [[function_constant(5)]];
constant bool SWIGLU [[function_constant(6)]];
constant bool BY_EXPERT [[function_constant(7)]];

constant constexpr uint TOKENS = 32, OUTPUTS = 64, COLUMNS = 32;  // a tile
// Row strides of tiles in threadgroup memory, so that the eight rows of a matrix begin in eight different places of its
// 32 banks, and lanes that write 16 bytes each do not meet: in halves, and in floats for the sums.
constant constexpr uint ROW = COLUMNS + 8, SUM_ROW = OUTPUTS + 4;
constant constexpr uint X_WORDS = TOKENS * ROW / 8;  // of 16 bytes

// Eight elements as halves, in order.
static inline uint4 halves(thread const float* w) {
  return uint4(as_type<uint2>(half4(w[0], w[1], w[2], w[3])), as_type<uint2>(half4(w[4], w[5], w[6], w[7])));
}

template <class L>
[[max_total_threads_per_threadgroup(128)]] [[kernel]] void linear_mat_half(
    device const uchar* weights [[buffer(0)]],
    device const WeightSegment* segments [[buffer(1)]],
    device const uint4* x [[buffer(2)]],       // [tokens, x_stride] halves
    device const float* scales [[buffer(3)]],  // [tokens]
    device const float* bias [[buffer(4)]],    // [out]
    device const ExpertTile* tiles [[buffer(5)]],
    device const int* order [[buffer(6)]],  // slots (token * topk + choice), those of one expert beside one another
    device float* y [[buffer(7)]],          // [tokens, out]; [tokens * topk, out] by expert
    constant LinearParams& p [[buffer(8)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint4 memory[TOKENS * SUM_ROW / 4];  // x and W, and when all is multiplied, the sums
  threadgroup const half* xs = reinterpret_cast<threadgroup const half*>(memory);            // [token, column]
  threadgroup const half* ws = reinterpret_cast<threadgroup const half*>(memory + X_WORDS);  // [output, column]
  threadgroup float* products = reinterpret_cast<threadgroup float*>(memory);                // [token, output]
  const uint half_rows = p.rows / 2;
  const uint outputs = SWIGLU ? half_rows : p.rows;
  const uint expert = BY_EXPERT ? tiles[group.y].expert : 0;
  const uint first_token = BY_EXPERT ? tiles[group.y].first : group.y * TOKENS;
  const uint end_token = BY_EXPERT ? first_token + tiles[group.y].count : p.tokens;
  if (first_token == end_token) return;
  const uint first = group.x * (SWIGLU ? OUTPUTS / 2 : OUTPUTS);

  // This thread loads 16 columns of one row of W. With SwiGLU the tile's upper half holds the `up` rows of the same
  // outputs.
  const uint line = thread_index / 2, columns = thread_index % 2 * 16;
  const uint output = SWIGLU ? first + line % (OUTPUTS / 2) : first + line;
  const bool has_row = output < outputs;
  Row row;
  if (has_row)
    row = find_row(
        segments, p.segments, p.expert_tables, expert, SWIGLU && line >= OUTPUTS / 2 ? output + half_rows : output);
  // And 8 columns of one token. Rows past the last read it again; what comes of them is not stored.
  const uint x_line = thread_index / 4, part = thread_index % 4;
  const bool has_token = first_token + x_line < end_token;  // by expert: a place in `order`
  const uint place = min(first_token + x_line, end_token - 1), slot = BY_EXPERT ? uint(order[place]) : place;
  const uint token = BY_EXPERT ? slot / p.topk : slot;
  device const uint4* x_row = x + ulong(token) * (p.x_stride / 8);

  const uint top = simdgroup / 2 * 16, left = simdgroup % 2 * 32;
  simdgroup_float8x8 sums[2][4];
  for (uint i = 0; i < 2; i++)
    for (uint j = 0; j < 4; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k0 = 0; k0 < p.in; k0 += COLUMNS) {
    for (uint i = 0; i < 2; i++) {
      const uint k = k0 + columns + i * 8;
      float w[8];
      if (has_row && k + 8 <= p.in) {
        L::decode8(weights, row, k, w);
      } else {
        for (uint e = 0; e < 8; e++) w[e] = has_row && k + e < p.in ? L::decode1(weights, row, k + e) : 0.0f;
      }
      memory[X_WORDS + line * (ROW / 8) + columns / 8 + i] = halves(w);
    }
    memory[x_line * (ROW / 8) + part] = x_row[k0 / 8 + part];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint kk = 0; kk < COLUMNS; kk += 8) {
      simdgroup_half8x8 a[2], b[4];
      for (uint i = 0; i < 2; i++) simdgroup_load(a[i], xs + (top + i * 8) * ROW + kk, ROW);
      for (uint j = 0; j < 4; j++) simdgroup_load(b[j], ws + (left + j * 8) * ROW + kk, ROW, ulong2(0, 0), true);
      for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 4; j++) simdgroup_multiply_accumulate(sums[i][j], a[i], b[j], sums[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  for (uint i = 0; i < 2; i++)
    for (uint j = 0; j < 4; j++)
      simdgroup_store(sums[i][j], products + (top + i * 8) * SUM_ROW + left + j * 8, SUM_ROW);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (!has_token) return;
  const float scale = scales[token];
  for (uint c = part; c < (SWIGLU ? OUTPUTS / 2 : OUTPUTS) && first + c < outputs; c += 4) {
    float value = products[x_line * SUM_ROW + c] * scale;
    if (SWIGLU) value = silu(value) * (products[x_line * SUM_ROW + OUTPUTS / 2 + c] * scale);
    if (HAS_BIAS) value += bias[first + c];
    value = activate(ACTIVATION, value) * p.scale;
    device float* to = y + ulong(slot) * p.y_stride + first + c;
    *to = ADD_TO ? *to + value : value;
  }
}
INSTANTIATE(linear_mat_half)
