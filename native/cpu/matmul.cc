// y = W x over the segments of a matrix. The specification of every element type: decode to fp32, multiply in fp32.
#include "cpu/matmul.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/floats.h"
#include "cpu/scalar.h"

namespace longhand::cpu {
namespace {

template <class Decode>
void rows_tile(const RowTile& tile, const Decode& decode) {
  thread_local std::vector<float> row;
  row.resize(static_cast<size_t>(tile.in));
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (int64_t k = 0; k < tile.in; ++k) row[static_cast<size_t>(k)] = decode(i * tile.in + k);
    for (int64_t t = 0; t < tile.tokens; ++t)
      tile.y[t * tile.y_stride + i] = scalar::dot(row.data(), tile.x + t * tile.x_stride, tile.in);
  }
}

}  // namespace

void scalar::rows_f32(const RowTile& tile) {
  rows_tile(tile, [&](int64_t i) {
    float value;
    std::memcpy(&value, tile.weights + 4 * i, sizeof value);
    return value;
  });
}
void scalar::rows_f16(const RowTile& tile) {
  rows_tile(tile, [&](int64_t i) { return cpu::from_f16(load_u16(tile.weights + 2 * i)); });
}
void scalar::rows_bf16(const RowTile& tile) {
  rows_tile(tile, [&](int64_t i) { return from_bf16(load_u16(tile.weights + 2 * i)); });
}

void matmul_tile(const Kernels& kernels, const CpuWeight& weight, int64_t first, int64_t count, const float* x,
                 int64_t x_stride, int64_t tokens, float* y, int64_t y_stride) {
  while (count > 0) {
    const RowRun run = find_rows(weight, first);
    const int64_t rows = std::min(count, run.rows);
    const RowTile tile{run.data, rows, weight.in, x, x_stride, tokens, y, y_stride};
    (run.type == DType::f32 ? kernels.rows_f32 : run.type == DType::f16 ? kernels.rows_f16 : kernels.rows_bf16)(tile);
    first += rows;
    count -= rows;
    y += rows;
  }
}

}  // namespace longhand::cpu
