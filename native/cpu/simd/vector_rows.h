// y = W x for rows of floats, in the element type of the file. Included by vector_kernels.h.
//
// A product of a row and a token has one vector of sums, whatever else is computed beside it: a result does not depend
// on the number of rows or of tokens. Few tokens take the weights as they stand. From `copied_from` tokens on, runs of
// rows are first copied as fp32, aligned, where they stay in the first-level cache while all tokens pass: rows of a
// file stand at any address, and a vector that crosses a cache line costs two (MiniLM 1.4 times as fast,
// test/bench/LEDGER.md).
#pragma once

#include <cstring>
#include <memory>

#include "cpu/kernels/kernels.h"

namespace {

using longhand::cpu::RowTile;

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// How a row's element type becomes a vector of floats.
template <class V>
struct F32Rows {
  static constexpr int64_t bytes = 4;
  static typename V::F load(const std::byte* p) { return V::load(reinterpret_cast<const float*>(p)); }
  static typename V::F load_part(const std::byte* p, int64_t n) {
    return V::load_part(reinterpret_cast<const float*>(p), n);
  }
};
template <class V>
struct F16Rows {
  static constexpr int64_t bytes = 2;
  static typename V::F load(const std::byte* p) { return V::load_f16(p); }
  static typename V::F load_part(const std::byte* p, int64_t n) { return V::load_f16_part(p, n); }
};
template <class V>
struct Bf16Rows {
  static constexpr int64_t bytes = 2;
  static typename V::F load(const std::byte* p) { return V::load_bf16(p); }
  static typename V::F load_part(const std::byte* p, int64_t n) { return V::load_bf16_part(p, n); }
};

// R rows of W times M rows of x, one accumulator a product: its order of summation does not depend on R or M.
template <class V, class Rows, int R, int M>
inline void rows_block(const RowTile& tile, int64_t row, int64_t token) {
  typename V::F sum[R][M];
  for (int r = 0; r < R; ++r)
    for (int m = 0; m < M; ++m) sum[r][m] = V::zero();
  const int64_t row_bytes = tile.in * Rows::bytes;
  const std::byte* w = tile.weights + row * row_bytes;
  const float* x = tile.x + token * tile.x_stride;
  int64_t k = 0;
  for (; k + V::width <= tile.in; k += V::width) {
    typename V::F input[M];
    for (int m = 0; m < M; ++m) input[m] = V::load(x + m * tile.x_stride + k);
    for (int r = 0; r < R; ++r) {
      if constexpr (M == 1) __builtin_prefetch(w + (R + r) * row_bytes + k * Rows::bytes, 0, 2);
      const typename V::F weight = Rows::load(w + r * row_bytes + k * Rows::bytes);
      for (int m = 0; m < M; ++m) sum[r][m] = V::fma(weight, input[m], sum[r][m]);
    }
  }
  if (const int64_t left = tile.in - k; left > 0) {
    typename V::F input[M];
    for (int m = 0; m < M; ++m) input[m] = V::load_part(x + m * tile.x_stride + k, left);
    for (int r = 0; r < R; ++r) {
      const typename V::F weight = Rows::load_part(w + r * row_bytes + k * Rows::bytes, left);
      for (int m = 0; m < M; ++m) sum[r][m] = V::fma(weight, input[m], sum[r][m]);
    }
  }
  for (int m = 0; m < M; ++m)
    for (int r = 0; r < R; ++r) tile.y[(token + m) * tile.y_stride + row + r] = V::sum(sum[r][m]);
}

// Eight chains of FMAs hide their latency at one token; four rows by four tokens read each value for four products.
template <class V, class Rows, int M>
inline void rows_tokens(const RowTile& tile, int64_t token) {
  constexpr int R = M == 1 ? 8 : 4;
  int64_t row = 0;
  for (; row + R <= tile.rows; row += R) rows_block<V, Rows, R, M>(tile, row, token);
  for (; row < tile.rows; ++row) rows_block<V, Rows, 1, M>(tile, row, token);
}

template <class V, class Rows>
void rows_in_place(const RowTile& tile) {
  int64_t token = 0;
  for (; token + 4 <= tile.tokens; token += 4) rows_tokens<V, Rows, 4>(tile, token);
  if (tile.tokens - token == 3) return rows_tokens<V, Rows, 3>(tile, token);
  if (tile.tokens - token == 2) return rows_tokens<V, Rows, 2>(tile, token);
  if (tile.tokens - token == 1) return rows_tokens<V, Rows, 1>(tile, token);
}

constexpr int64_t copied_from = 24, copied_rows = 16, copied_columns = 384;
constexpr int64_t carried_tokens = 128;

struct alignas(64) CopiedRows {
  float weights[copied_rows * copied_columns];       // 24 KB; with four tokens they fill half of a first-level cache
  float carried[carried_tokens * copied_rows * 16];  // sums of the columns before: a vector a row and token
};

// Four copied rows times M tokens over one run of columns. `before` has the sums of the runs before (null in the first
// run), `after` takes them (null in the last, where y does).
template <class V, int M>
inline void copied_block(const float* w, const float* x, int64_t x_stride, int64_t count, const float* before,
                         float* after, float* y, int64_t y_stride) {
  constexpr int R = 4;
  typename V::F sum[R][M];
  for (int r = 0; r < R; ++r)
    for (int m = 0; m < M; ++m) sum[r][m] = before ? V::load(before + (r * M + m) * V::width) : V::zero();
  const auto add = [&](int64_t k, const auto& load) {
    typename V::F input[M];
    for (int m = 0; m < M; ++m) input[m] = load(x + m * x_stride + k);
    for (int r = 0; r < R; ++r) {
      const typename V::F weight = V::load(w + r * copied_columns + k);
      for (int m = 0; m < M; ++m) sum[r][m] = V::fma(weight, input[m], sum[r][m]);
    }
  };
  int64_t k = 0;
  for (; k + V::width <= count; k += V::width) add(k, [](const float* p) { return V::load(p); });
  if (const int64_t left = count - k; left > 0) add(k, [left](const float* p) { return V::load_part(p, left); });
  if (after) {
    for (int r = 0; r < R; ++r)
      for (int m = 0; m < M; ++m) V::store(after + (r * M + m) * V::width, sum[r][m]);
  } else {
    for (int m = 0; m < M; ++m) V::store_sums(y + m * y_stride, sum[0][m], sum[1][m], sum[2][m], sum[3][m]);
  }
}

// Rows [row, row + rows), at most copied_rows, times tokens [token, token + tokens).
template <class V, class Rows>
inline void copied_run(const RowTile& tile, int64_t row, int64_t rows, int64_t token, int64_t tokens,
                       CopiedRows& work) {
  const int64_t row_bytes = tile.in * Rows::bytes;
  alignas(64) float sums[4 * 4];
  for (int64_t column = 0; column < tile.in; column += copied_columns) {
    const int64_t count = smaller(copied_columns, tile.in - column);
    const bool first = column == 0, last = column + count == tile.in;
    for (int64_t r = 0; r < (rows + 3) / 4 * 4; ++r) {
      float* to = work.weights + r * copied_columns;
      const std::byte* from = tile.weights + (row + smaller(r, rows - 1)) * row_bytes + column * Rows::bytes;
      int64_t k = 0;
      for (; k + V::width <= count; k += V::width) V::store(to + k, Rows::load(from + k * Rows::bytes));
      if (k < count) V::store(to + k, Rows::load_part(from + k * Rows::bytes, count - k));
    }
    float* carried = work.carried;
    const auto block = [&]<int M>(int64_t t) {
      const float* x = tile.x + (token + t) * tile.x_stride + column;
      for (int64_t r = 0; r < rows; r += 4, carried += 4 * M * V::width) {
        float* y = tile.y + (token + t) * tile.y_stride + row + r;
        const bool whole = rows - r >= 4;
        copied_block<V, M>(work.weights + r * copied_columns, x, tile.x_stride, count, first ? nullptr : carried,
                           last ? nullptr : carried, whole ? y : sums, whole ? tile.y_stride : 4);
        if (whole || !last) continue;
        for (int m = 0; m < M; ++m)
          std::memcpy(y + m * tile.y_stride, sums + 4 * m, static_cast<size_t>(rows - r) * sizeof(float));
      }
    };
    int64_t t = 0;
    constexpr int M = V::registers == 32 ? 4 : 3;  // so that the sums, a weight and the inputs fit
    for (; t + M <= tokens; t += M) block.template operator()<M>(t);
    for (; t < tokens; ++t) block.template operator()<1>(t);
  }
}

template <class V, class Rows>
void rows_tile(const RowTile& tile) {
  if (tile.tokens < copied_from) return rows_in_place<V, Rows>(tile);
  thread_local const auto memory = std::make_unique<CopiedRows>();
  for (int64_t token = 0; token < tile.tokens; token += carried_tokens) {
    const int64_t tokens = smaller(carried_tokens, tile.tokens - token);
    for (int64_t row = 0; row < tile.rows; row += copied_rows)
      copied_run<V, Rows>(tile, row, smaller(copied_rows, tile.rows - row), token, tokens, *memory);
  }
}

}  // namespace
