// y = W x for many rows of x on the matrix units that GPUs have from M5 on (Apple10), which only the tensor operations
// of Metal 4 reach: the fast path, where the device passed the check of native/metal/tuning/tensor_check.mm. Rounds as
// matmul_half.metal does and sums in fp32, in an order of the system's own. A tile is 64 outputs by 64 tokens: products
// are so cheap there that decoding W is what costs, and twice the tokens halve it.
//
// Tiles are filled up with zeros and every step multiplies whole ones: what lies beyond a tensor's extents may be read
// (llama.cpp PR 27450: NaN where columns were no multiple of 32).
#include "shared/blocks.h"
#include "shared/instantiate.h"

#include <metal_tensor>

#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>

constant bool HAS_BIAS [[function_constant(3)]];
constant uint ACTIVATION [[function_constant(4)]];
constant bool ADD_TO [[function_constant(5)]];
constant bool SWIGLU [[function_constant(6)]];

constant constexpr uint TILE = 64;  // tokens, outputs and columns
// Row stride of a tile in threadgroup memory, in words of 16 bytes (8 halves): one more than it holds, so that rows
// begin in different banks.
constant constexpr uint ROW = TILE / 8 + 1;
constant constexpr uint X_WORDS = TILE * ROW;
constant constexpr uint THREADS = 128;

// Eight elements as halves, in order.
static inline uint4 halves(thread const float* w) {
  return uint4(as_type<uint2>(half4(w[0], w[1], w[2], w[3])), as_type<uint2>(half4(w[4], w[5], w[6], w[7])));
}

template <class L>
[[max_total_threads_per_threadgroup(128)]] [[kernel]] void linear_mat_tensor(
    device const uchar* weights [[buffer(0)]],
    device const WeightSegment* segments [[buffer(1)]],
    device const uint4* x [[buffer(2)]],       // [tokens, x_stride] halves, zero from column `in` on
    device const float* scales [[buffer(3)]],  // [tokens]
    device const float* bias [[buffer(4)]],    // [out]
    device float* y [[buffer(5)]],             // [tokens, out]
    constant LinearParams& p [[buffer(6)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup uint4 memory[2 * X_WORDS];                               // x and W, and when all is multiplied, the sums
  threadgroup half* xs = reinterpret_cast<threadgroup half*>(memory);  // [token, column]
  threadgroup half* ws = reinterpret_cast<threadgroup half*>(memory + X_WORDS);  // [output, column]
  threadgroup float* products = reinterpret_cast<threadgroup float*>(memory);    // [token, output]
  const uint half_rows = p.rows / 2;
  const uint outputs = SWIGLU ? half_rows : p.rows;
  const uint first_token = group.y * TILE;
  const uint first = group.x * (SWIGLU ? TILE / 2 : TILE);

  // This thread loads 32 columns of one row of W and of one token. With SwiGLU the tile's upper half holds the `up`
  // rows of the same outputs. Rows and tokens past the last are zero.
  const uint line = thread_index / 2, columns = thread_index % 2 * (TILE / 2);
  const uint output = SWIGLU ? first + line % (TILE / 2) : first + line;
  const bool has_row = output < outputs, has_token = first_token + line < p.tokens;
  Row row;
  if (has_row)
    row = find_row(segments, p.segments, p.expert_tables, 0, SWIGLU && line >= TILE / 2 ? output + half_rows : output);
  device const uint4* x_row = x + ulong(min(first_token + line, p.tokens - 1)) * (p.x_stride / 8);

  // Extents and strides of tensors: columns first.
  const dextents<int, 2> whole(TILE, TILE);
  using Halves = tensor<threadgroup half, dextents<int, 2>, tensor_inline>;
  Halves left(xs, whole, array<int, 2>{1, ROW * 8}), right(ws, whole, array<int, 2>{1, ROW * 8});
  mpp::tensor_ops::matmul2d<
      mpp::tensor_ops::matmul2d_descriptor(
          TILE, TILE, TILE, false, true, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate),
      execution_simdgroups<THREADS / 32>>
      product;
  auto sums = product.get_destination_cooperative_tensor<Halves, Halves, float>();
  for (ushort i = 0; i < sums.get_capacity(); i++)
    if (sums.is_valid_element(i)) sums[i] = 0.0f;

  for (uint k0 = 0; k0 < p.in; k0 += TILE) {
    for (uint i = 0; i < TILE / 16; i++) {
      const uint k = k0 + columns + i * 8, to = line * ROW + columns / 8 + i;
      float w[8];
      if (has_row && k + 8 <= p.in) {
        L::decode8(weights, row, k, w);
      } else {
        for (uint e = 0; e < 8; e++) w[e] = has_row && k + e < p.in ? L::decode1(weights, row, k + e) : 0.0f;
      }
      memory[X_WORDS + to] = halves(w);
      memory[to] = has_token ? x_row[k / 8] : uint4(0);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    product.run(left, right, sums);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  tensor<threadgroup float, dextents<int, 2>, tensor_inline> all(products, whole, array<int, 2>{1, TILE});
  sums.store(all);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint width = SWIGLU ? TILE / 2 : TILE;
  for (uint e = thread_index; e < TILE * width; e += THREADS) {
    const uint token = first_token + e / width, c = e % width;
    if (token >= p.tokens || first + c >= outputs) continue;
    const float scale = scales[token];
    float value = products[e / width * TILE + c] * scale;
    if (SWIGLU) value = silu(value) * (products[e / width * TILE + TILE / 2 + c] * scale);
    if (HAS_BIAS) value += bias[first + c];
    value = activate(ACTIVATION, value) * p.scale;
    device float* to = y + ulong(token) * p.y_stride + first + c;
    *to = ADD_TO ? *to + value : value;
  }
}
INSTANTIATE(linear_mat_tensor)
