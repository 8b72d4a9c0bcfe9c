// y = W x for many rows of x: tiles of 32 tokens by 32 outputs, four simdgroups of 16 x 16 each, 8 x 8 matrices.
// Weights are decoded into threadgroup memory once a tile, 8 elements a thread; norm, gate and the squares of the norm
// are fused into loading x, exactly as in the matvec (linear.metal). fp32 throughout: the exact path.
#include "shared/blocks.h"
#include "shared/instantiate.h"

#include <metal_simdgroup_matrix>

constant bool HAS_NORM [[function_constant(1)]];
constant uint GATE_KIND [[function_constant(2)]];
constant bool HAS_BIAS [[function_constant(3)]];
constant uint ACTIVATION [[function_constant(4)]];
constant bool ADD_TO [[function_constant(5)]];
constant bool SWIGLU [[function_constant(6)]];
constant bool BY_EXPERT
    [[function_constant(7)]];  // tiles of rows that chose the same expert (moe.metal, group_by_expert)

constant constexpr uint T = 32;  // tokens, outputs and columns a tile
// Row stride of a tile, in floats: with 32, all rows of an 8 x 8 matrix would begin in the same bank of
// threadgroup memory, and eight lanes would wait for one another at every load and store.
constant constexpr uint ROW = T + 4;

template <class L>
[[max_total_threads_per_threadgroup(128)]] [[kernel]] void linear_mat(
    device const uchar* weights [[buffer(0)]],
    device const WeightSegment* segments [[buffer(1)]],
    device const float* x [[buffer(2)]],     // [tokens, in]
    device const float* norm [[buffer(3)]],  // [in]
    device const float* gate [[buffer(4)]],  // [tokens, in]
    device const float* bias [[buffer(5)]],  // [out]
    device const ExpertTile* tiles [[buffer(6)]],
    device const int* order [[buffer(7)]],  // slots (token * topk + choice), those of one expert beside one another
    device float* y [[buffer(8)]],          // [tokens, out]; [tokens * topk, out] by expert
    constant LinearParams& p [[buffer(9)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float4 x_tile[T * ROW / 4], w_tile[T * ROW / 4];
  threadgroup float* xs = reinterpret_cast<threadgroup float*>(x_tile);  // [token, column]
  threadgroup float* ws = reinterpret_cast<threadgroup float*>(w_tile);  // [output, column]
  threadgroup float squares[T * 4];
  const uint half_rows = p.rows / 2;
  const uint outputs = SWIGLU ? half_rows : p.rows;
  const uint expert = BY_EXPERT ? tiles[group.y].expert : 0;
  const uint first_token = BY_EXPERT ? tiles[group.y].first : group.y * T;
  const uint end_token = BY_EXPERT ? first_token + tiles[group.y].count : p.tokens;
  if (first_token == end_token) return;
  const uint first = group.x * (SWIGLU ? T / 2 : T);

  // This thread loads columns 8 * part .. + 7 of one token and of one row of W. With SwiGLU the tile's upper half holds
  // the `up` rows of the same outputs.
  const uint line = thread_index / 4, part = thread_index % 4;
  const uint token = first_token + line;  // by expert: a place in `order`
  const bool has_token = token < end_token;
  const uint place = min(token, end_token - 1), slot = BY_EXPERT ? uint(order[place]) : place;
  const uint x_line = BY_EXPERT ? slot / p.topk : slot;
  const uint output = SWIGLU ? first + line % (T / 2) : first + line;
  const bool has_row = output < outputs;
  Row row;
  if (has_row)
    row =
        find_row(segments, p.segments, p.expert_tables, expert, SWIGLU && line >= T / 2 ? output + half_rows : output);
  device const float* x_row = x + ulong(x_line) * p.x_stride;
  device const float* gate_row = gate + ulong(x_line) * p.gate_stride;

  const uint top = simdgroup / 2 * 16, left = simdgroup % 2 * 16;
  simdgroup_float8x8 sums[2][2];
  for (uint i = 0; i < 2; i++)
    for (uint j = 0; j < 2; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  float square = 0;
  for (uint k0 = 0; k0 < p.in; k0 += T) {
    const uint k = k0 + part * 8;
    float w[8];
    if (has_row && k + 8 <= p.in) {
      L::decode8(weights, row, k, w);
    } else {
      for (uint i = 0; i < 8; i++) w[i] = has_row && k + i < p.in ? L::decode1(weights, row, k + i) : 0.0f;
    }
    float values[8];
    for (uint i = 0; i < 8; i++) {
      float value = has_token && k + i < p.in ? x_row[k + i] : 0.0f;
      square += value * value;
      if (HAS_NORM && k + i < p.in) value *= norm[k + i];
      if (GATE_KIND != 0 && k + i < p.in) value *= GATE_KIND == 1 ? sigmoid(gate_row[k + i]) : silu(gate_row[k + i]);
      values[i] = value;
    }
    for (uint i = 0; i < 2; i++) {
      const uint to = line * (ROW / 4) + part * 2 + i;
      x_tile[to] = float4(values[i * 4], values[i * 4 + 1], values[i * 4 + 2], values[i * 4 + 3]);
      w_tile[to] = float4(w[i * 4], w[i * 4 + 1], w[i * 4 + 2], w[i * 4 + 3]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint kk = 0; kk < T; kk += 8) {
      simdgroup_float8x8 a[2], b[2];
      for (uint i = 0; i < 2; i++) simdgroup_load(a[i], xs + (top + i * 8) * ROW + kk, ROW);
      for (uint j = 0; j < 2; j++) simdgroup_load(b[j], ws + (left + j * 8) * ROW + kk, ROW, ulong2(0, 0), true);
      for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++) simdgroup_multiply_accumulate(sums[i][j], a[i], b[j], sums[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  for (uint i = 0; i < 2; i++)
    for (uint j = 0; j < 2; j++) simdgroup_store(sums[i][j], xs + (top + i * 8) * ROW + left + j * 8, ROW);
  squares[line * 4 + part] = square;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (!has_token) return;
  float scale = 1.0f;
  if (HAS_NORM) {
    const float total = squares[line * 4] + squares[line * 4 + 1] + squares[line * 4 + 2] + squares[line * 4 + 3];
    scale = 1.0f / precise::sqrt(total / float(p.in) + p.eps);
  }
  const uint columns = SWIGLU ? T / 2 : T;
  for (uint c = part; c < columns && first + c < outputs; c += 4) {
    float value = xs[line * ROW + c] * scale;
    if (SWIGLU) value = silu(value) * (xs[line * ROW + T / 2 + c] * scale);
    if (HAS_BIAS) value += bias[first + c];
    value = activate(ACTIVATION, value) * p.scale;
    device float* to = y + ulong(slot) * p.y_stride + first + c;
    *to = ADD_TO ? *to + value : value;
  }
}
INSTANTIATE(linear_mat)
