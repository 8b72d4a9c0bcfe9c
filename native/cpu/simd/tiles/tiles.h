// Products in tile registers (Intel AMX): eight registers of up to 16 rows of 64 bytes, one instruction multiplies two
// of them and adds to a third. `Tiles` are the instructions (vector_amx.h) or, for processors without them, what they
// are documented to do (test/native/cpu/emulated_tiles.h).
#pragma once

#include <cstring>

#include "cpu/kernels/kernels.h"
#include "cpu/simd/turn.h"
#include "cpu/weights/packed_weights.h"

namespace {

using longhand::cpu::decoded_block;
using longhand::cpu::decoded_tile;
using longhand::cpu::DecodedTile;
using longhand::cpu::RoundedRowTile;

constexpr int64_t tile_rows = 16, tile_bytes = 64, tile_columns = 32;

// The operand of the configuring instruction.
struct alignas(64) TileShapes {
  uint8_t palette = 1, first_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int tile, int64_t count, int64_t bytes) {
    rows[tile] = static_cast<uint8_t>(count);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }
};

inline int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

// Packed weights, decoded to bf16 (DecodedTile): registers 0 to 3 are sums of two groups of 16 tokens by two panels,
// over the whole depth, 4 and 5 activations as they stand, 6 and 7 panels. Four loads serve four products, which do not
// wait for each other.
template <class Tiles, int Panels, int Groups>
inline void multiply_pair(const DecodedTile& tile, int64_t panel, int64_t token) {
  const int64_t x_bytes = tile.x_stride * 2, y_bytes = tile.y_stride * 4;
  const uint16_t* weights = tile.weights + panel / 2 * (tile.columns / tile_columns) * decoded_block;
  const uint16_t *x = tile.x + token * tile.x_stride, *more_x = x + tile_rows * tile.x_stride;
  float *y = tile.y + token * tile.y_stride + panel * tile_rows, *more_y = y + tile_rows * tile.y_stride;
  const auto sums = [&]<int Sum>(float* at, auto use) { use.template operator()<Sum>(at); };
  const auto each_sum = [&](auto use) {
    sums.template operator()<0>(y, use);
    if constexpr (Panels == 2) sums.template operator()<1>(y + tile_rows, use);
    if constexpr (Groups == 2) sums.template operator()<2>(more_y, use);
    if constexpr (Panels == 2 && Groups == 2) sums.template operator()<3>(more_y + tile_rows, use);
  };
  if (tile.adds) each_sum([&]<int Sum>(float* at) { Tiles::template load<Sum>(at, y_bytes); });
  else each_sum([&]<int Sum>(float*) { Tiles::template zero<Sum>(); });
  for (int64_t c = 0; c < tile.columns; c += tile_columns, weights += decoded_block) {
    Tiles::template load<4>(x + c, x_bytes);
    Tiles::template load<6>(weights, tile_bytes);
    if constexpr (Panels == 2) Tiles::template load<7>(weights + decoded_tile, tile_bytes);
    if constexpr (Groups == 2) Tiles::template load<5>(more_x + c, x_bytes);
    Tiles::template multiply_bf16<0, 4, 6>();
    if constexpr (Panels == 2) Tiles::template multiply_bf16<1, 4, 7>();
    if constexpr (Groups == 2) Tiles::template multiply_bf16<2, 5, 6>();
    if constexpr (Panels == 2 && Groups == 2) Tiles::template multiply_bf16<3, 5, 7>();
  }
  each_sum([&]<int Sum>(float* at) { Tiles::template store<Sum>(at, y_bytes); });
}

template <class Tiles, int Groups>
inline void multiply_pairs(const DecodedTile& tile, int64_t token) {
  int64_t panel = 0;
  for (; panel + 2 <= tile.panels; panel += 2) multiply_pair<Tiles, 2, Groups>(tile, panel, token);
  if (panel < tile.panels) multiply_pair<Tiles, 1, Groups>(tile, panel, token);
}

// Registers for two groups of tokens of so many rows.
inline TileShapes groups_of(int64_t first, int64_t second) {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) shapes.set(i, tile_rows, tile_bytes);
  for (const int i : {0, 1, 4}) shapes.set(i, first, tile_bytes);
  for (const int i : {2, 3, 5}) shapes.set(i, second, tile_bytes);
  return shapes;
}

// scalar::multiply_decoded
template <class Tiles>
inline void multiply_decoded(const DecodedTile& tile) {
  Tiles::configure(groups_of(tile_rows, tile_rows));
  int64_t token = 0;
  for (; token + 2 * tile_rows <= tile.tokens; token += 2 * tile_rows) multiply_pairs<Tiles, 2>(tile, token);
  if (const int64_t left = tile.tokens - token; left > 0) {
    Tiles::configure(groups_of(at_most(tile_rows, left), left > tile_rows ? left - tile_rows : tile_rows));
    if (left > tile_rows) multiply_pairs<Tiles, 2>(tile, token);
    else multiply_pairs<Tiles, 1>(tile, token);
  }
  Tiles::release();
}

// bf16: sums[row][token] = W x^T, since rows of W are a tile as they stand (16 rows of 32 columns) and only the
// activations need their pairs of columns turned. Every number of tokens goes this way: the order of the sums is that
// of the instruction (scalar::rows_bf16_tiles), and a token has to give the same bits alone and among others.
constexpr int64_t turned_columns = 512, rows_at_once = 256;

struct alignas(64) RowWork {
  uint32_t x[2][turned_columns / 2][tile_rows];             // pairs of columns, 16 tokens side by side
  float sums[rows_at_once / tile_rows][2][tile_rows * 16];  // [rows, 16 tokens] of two groups of tokens
  uint16_t edge[2][tile_rows][tile_columns];                // weights or activations that fill no tile, and zeros
};

struct Operand {
  const void* at;
  int64_t stride;  // bytes
};

struct Bf16Matrix {
  const uint16_t* at;
  int64_t rows, columns, stride;
};

// 16 rows by 32 columns: where they stand, or copied among zeros where they reach over the end of the matrix.
inline Operand whole_rows(const Bf16Matrix& matrix, int64_t row, int64_t column,
                          uint16_t (&edge)[tile_rows][tile_columns]) {
  const uint16_t* at = matrix.at + row * matrix.stride + column;
  if (row + tile_rows <= matrix.rows && column + tile_columns <= matrix.columns) return {at, matrix.stride * 2};
  std::memset(edge, 0, sizeof edge);
  const auto bytes = static_cast<size_t>(at_most(tile_columns, matrix.columns - column) * 2);
  for (int64_t i = 0; i < at_most(tile_rows, matrix.rows - row); ++i)
    std::memcpy(edge[i], at + i * matrix.stride, bytes);
  return {edge, tile_columns * 2};
}

template <class Tiles, int Blocks, int Groups>
inline void multiply_rows(const RoundedRowTile& tile, int64_t row, int64_t column, int64_t columns,
                          float (*sums)[2][tile_rows * 16], RowWork& work) {
  const Bf16Matrix weights{reinterpret_cast<const uint16_t*>(tile.weights), tile.rows, tile.in, tile.in};
  Tiles::template load<0>(sums[0][0], tile_bytes);
  if constexpr (Groups == 2) Tiles::template load<1>(sums[0][1], tile_bytes);
  if constexpr (Blocks == 2) Tiles::template load<2>(sums[1][0], tile_bytes);
  if constexpr (Blocks == 2 && Groups == 2) Tiles::template load<3>(sums[1][1], tile_bytes);
  for (int64_t c = 0; c < columns; c += tile_columns) {
    const Operand first = whole_rows(weights, row, column + c, work.edge[0]);
    Tiles::template load<4>(first.at, first.stride);
    Tiles::template load<6>(work.x[0][c / 2], tile_bytes);
    if constexpr (Blocks == 2) {
      const Operand second = whole_rows(weights, row + tile_rows, column + c, work.edge[1]);
      Tiles::template load<5>(second.at, second.stride);
    }
    if constexpr (Groups == 2) Tiles::template load<7>(work.x[1][c / 2], tile_bytes);
    Tiles::template multiply_bf16<0, 4, 6>();
    if constexpr (Groups == 2) Tiles::template multiply_bf16<1, 4, 7>();
    if constexpr (Blocks == 2) Tiles::template multiply_bf16<2, 5, 6>();
    if constexpr (Blocks == 2 && Groups == 2) Tiles::template multiply_bf16<3, 5, 7>();
  }
  Tiles::template store<0>(sums[0][0], tile_bytes);
  if constexpr (Groups == 2) Tiles::template store<1>(sums[0][1], tile_bytes);
  if constexpr (Blocks == 2) Tiles::template store<2>(sums[1][0], tile_bytes);
  if constexpr (Blocks == 2 && Groups == 2) Tiles::template store<3>(sums[1][1], tile_bytes);
}

// y[token + t][row + i] = sums[i][t]
inline void put_sums(const RoundedRowTile& tile, int64_t token, int64_t row, const float (&sums)[tile_rows * 16]) {
  alignas(64) float turned[16][16];
  turn(sums, tile_bytes, turned, tile_bytes);
  const auto bytes = static_cast<size_t>(at_most(tile_rows, tile.rows - row)) * sizeof(float);
  for (int64_t t = 0; t < at_most(tile_rows, tile.tokens - token); ++t)
    std::memcpy(tile.y + (token + t) * tile.y_stride + row, turned[t], bytes);
}

// Up to 256 rows by 16 or 32 tokens, their columns in runs whose activations stay in the cache.
template <class Tiles, int Groups>
inline void row_tokens(const RoundedRowTile& tile, int64_t first, int64_t token, RowWork& work) {
  const int64_t blocks = (at_most(rows_at_once, tile.rows - first) + tile_rows - 1) / tile_rows;
  std::memset(work.sums, 0, static_cast<size_t>(blocks) * sizeof work.sums[0]);
  for (int64_t column = 0; column < tile.in; column += turned_columns) {
    const int64_t columns = at_most(turned_columns, tile.in - column);
    for (int g = 0; g < Groups; ++g) {
      for (int64_t c = 0; c < columns; c += tile_columns) {
        const Operand x =
            whole_rows({tile.x, tile.tokens, tile.in, tile.x_stride}, token + g * tile_rows, column + c, work.edge[0]);
        turn(x.at, x.stride, work.x[g][c / 2], tile_bytes);
      }
    }
    int64_t block = 0;
    for (; block + 2 <= blocks; block += 2)
      multiply_rows<Tiles, 2, Groups>(tile, first + block * tile_rows, column, columns, work.sums + block, work);
    if (block < blocks)
      multiply_rows<Tiles, 1, Groups>(tile, first + block * tile_rows, column, columns, work.sums + block, work);
  }
  for (int64_t block = 0; block < blocks; ++block)
    for (int g = 0; g < Groups; ++g)
      put_sums(tile, token + g * tile_rows, first + block * tile_rows, work.sums[block][g]);
}

// scalar::rows_bf16_tiles
template <class Tiles>
inline void row_tiles(const RoundedRowTile& tile) {
  RowWork work;
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) shapes.set(i, tile_rows, tile_bytes);
  Tiles::configure(shapes);
  for (int64_t row = 0; row < tile.rows; row += rows_at_once) {
    for (int64_t token = 0; token < tile.tokens; token += 2 * tile_rows) {
      if (tile.tokens - token > tile_rows) row_tokens<Tiles, 2>(tile, row, token, work);
      else row_tokens<Tiles, 1>(tile, row, token, work);
    }
  }
  Tiles::release();
}

}  // namespace
