// Products in tile registers (Intel AMX): eight registers of up to 16 rows of 64 bytes, one instruction multiplies two
// of them and adds to a third. `Tiles` are the instructions (vector_amx.h) or, for processors without them, what they
// are documented to do (test/native/cpu/emulated_tiles.h); `V` is a vector type for what stands around them.
//
// 8 bits: registers 0-3 are sums of two groups of 8 tokens (a row for the high bytes of each, one for the low ones) by
// two panels, 4 and 5 activations, 6 and 7 codes: four independent products hide the latency. A block of a panel is a
// tile as it stands. Every 32 (or 16) columns have scales of their own, so a product is no deeper than that, and its
// sums go through memory to be scaled.
#pragma once

#include <cstring>

#include "cpu/kernels/kernels.h"
#include "cpu/weights/packed_weights.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

using longhand::cpu::PanelTile;
using longhand::cpu::RoundedRowTile;

constexpr int64_t tile_rows = 16, tile_bytes = 64;
constexpr int64_t tile_tokens = tile_rows / 2;

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

constexpr int64_t runs_a_round = 4;  // runs of columns whose sums are kept before they are scaled: 16 KB
using RunSums = int32_t[4][tile_rows * 16];

// The sums of one run of columns: to[2 g + p] is [8 tokens of group g, 2 bytes, 16 rows of panel p].
template <class Tiles, int Panels, int Groups>
inline void multiply_run(const PanelTile& tile, int64_t token, int64_t column, RunSums& to) {
  const uint8_t* codes = tile.codes + column / longhand::cpu::block_columns * longhand::cpu::unpacked_block_bytes +
                         column % longhand::cpu::block_columns / 4 * longhand::cpu::quad_bytes;
  const int8_t* x = tile.x_codes + 2 * token * tile.x_stride + column;
  Tiles::template load<4>(x, tile.x_stride);
  Tiles::template load<6>(codes, longhand::cpu::quad_bytes);
  if constexpr (Groups == 2) Tiles::template load<5>(x + tile_rows * tile.x_stride, tile.x_stride);
  if constexpr (Panels == 2) Tiles::template load<7>(codes + tile.code_stride, longhand::cpu::quad_bytes);
  const auto product = [&]<int Sum, int X, int Codes>() {
    Tiles::template zero<Sum>();
    Tiles::template multiply_bytes<Sum, X, Codes>();
  };
  product.template operator()<0, 4, 6>();
  if constexpr (Panels == 2) product.template operator()<1, 4, 7>();
  if constexpr (Groups == 2) product.template operator()<2, 5, 6>();
  if constexpr (Panels == 2 && Groups == 2) product.template operator()<3, 5, 7>();
  Tiles::template store<0>(to[0], tile_bytes);
  if constexpr (Panels == 2) Tiles::template store<1>(to[1], tile_bytes);
  if constexpr (Groups == 2) Tiles::template store<2>(to[2], tile_bytes);
  if constexpr (Panels == 2 && Groups == 2) Tiles::template store<3>(to[3], tile_bytes);
}

// Scales the sums of `runs` runs of `run` columns and adds them in their order, as scalar::panel_fast.
template <class V>
inline void add_runs(const PanelTile& tile, int64_t token, int64_t tokens, int64_t column, int64_t run, int64_t runs,
                     const RunSums* products) {
  using F = typename V::F;
  for (int64_t t = 0; t < tokens; ++t) {
    int32_t zero[runs_a_round];
    float scale[runs_a_round], whole[runs_a_round];
    for (int64_t r = 0; r < runs; ++r) {
      const int64_t first = column + r * run;
      const int32_t* sums = tile.x_code_sums + (token + t) * tile.sum_step + first / 16;
      const int32_t sum = run == 16 ? sums[0] : sums[0] + sums[1];
      scale[r] = tile.x_scales[(token + t) * tile.scale_step + first / longhand::cpu::block_columns];
      zero[r] = -tile.zero * sum;
      whole[r] = scale[r] * static_cast<float>(sum);
    }
    for (int64_t row = 0; row < tile.panels * tile_rows; row += V::width) {
      const int64_t panel = row / tile_rows, lane = row % tile_rows;
      float* to = tile.sums + (token + t) * tile.panels * tile_rows + row;
      F sum = V::load(to);
      for (int64_t r = 0; r < runs; ++r) {
        const int32_t* from = products[r][t / tile_tokens * 2 + panel] + t % tile_tokens * 32 + lane;
        const auto sums_of = [&](int byte) { return V::load_quad(reinterpret_cast<const uint8_t*>(from + 16 * byte)); };
        const int64_t at = panel * tile.scale_stride + (column + r * run) / tile.group * tile_rows + lane;
        const F product = V::to_float(V::plus(V::joined(sums_of(0), sums_of(1)), V::set_int(zero[r])));
        sum = V::fused(product, V::mul(V::load(tile.scales + at), V::set(scale[r])), sum);
        if (tile.biases) sum = V::fused(V::load(tile.biases + at), V::set(whole[r]), sum);
      }
      V::store(to, sum);
    }
  }
}

template <class Tiles, class V, int Panels, int Groups>
inline void panel_tokens(const PanelTile& tile, int64_t token, int64_t run) {
  alignas(64) RunSums products[runs_a_round];
  const int64_t all = tile.blocks * longhand::cpu::block_columns;
  for (int64_t column = 0; column < all; column += runs_a_round * run) {
    const int64_t runs = at_most(runs_a_round, (all - column) / run);
    for (int64_t r = 0; r < runs; ++r) multiply_run<Tiles, Panels, Groups>(tile, token, column + r * run, products[r]);
    add_runs<V>(tile, token, Groups * tile_tokens, column, run, runs, products);
  }
}

template <class Tiles, class V, int Panels>
inline void panel_groups(const PanelTile& tile, int64_t tokens, int64_t run) {
  int64_t token = 0;
  for (; token + 2 * tile_tokens <= tokens; token += 2 * tile_tokens)
    panel_tokens<Tiles, V, Panels, 2>(tile, token, run);
  if (token < tokens) panel_tokens<Tiles, V, Panels, 1>(tile, token, run);
}

// scalar::panel_fast. Whole groups of 8 tokens of unpacked codes by tiles, `rest` does the others: few tokens, and
// panels as packed. Tiles are configured and released here, on the calling thread.
template <class Tiles, class V>
inline void panel_tiles(const PanelTile& tile, void (*rest)(const PanelTile&)) {
  const int64_t tokens = !tile.packed ? tile.tokens / tile_tokens * tile_tokens : 0;
  if (tokens > 0) {
    const int64_t run = at_most(tile.group, longhand::cpu::block_columns);
    TileShapes shapes;
    for (int sums = 0; sums < 4; ++sums) shapes.set(sums, tile_rows, tile_bytes);
    for (int i = 0; i < 2; ++i) shapes.set(4 + i, tile_rows, run);
    for (int i = 0; i < 2; ++i) shapes.set(6 + i, run / 4, tile_bytes);
    Tiles::configure(shapes);
    if (tile.panels == 2) panel_groups<Tiles, V, 2>(tile, tokens, run);
    else panel_groups<Tiles, V, 1>(tile, tokens, run);
    Tiles::release();
  }
  if (tokens == tile.tokens) return;
  PanelTile left = tile;
  left.tokens -= tokens;
  left.x_codes += 2 * tokens * tile.x_stride;
  left.x_scales += tokens * tile.scale_step;
  left.x_code_sums += tokens * tile.sum_step;
  left.sums += tokens * tile.panels * tile_rows;
  rest(left);
}

// bf16: sums[row][token] = W x^T, since rows of W are a tile as they stand (16 rows of 32 columns) and only the
// activations need their pairs of columns turned. Every number of tokens goes this way: the order of the sums is that
// of the instruction (scalar::rows_bf16_tiles), and a token has to give the same bits alone and among others.
constexpr int64_t tile_columns = 32, turned_columns = 512, rows_at_once = 256;

struct alignas(64) RowWork {
  uint32_t x[2][turned_columns / 2][tile_rows];             // pairs of columns, 16 tokens side by side
  float sums[rows_at_once / tile_rows][2][tile_rows * 16];  // [rows, 16 tokens] of two groups of tokens
  uint16_t edge[2][tile_rows][tile_columns];                // weights or activations that fill no tile, and zeros
};

// to[j][i] = from[i][j], 16 by 16 words of 32 bits; strides in bytes.
#if defined(__AVX512F__)
inline void turn(const void* from, int64_t from_stride, void* to, int64_t to_stride) {
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(static_cast<const char*>(from) + i * from_stride);
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  const auto put = [&](int64_t row, __m512i x) { _mm512_storeu_si512(static_cast<char*>(to) + row * to_stride, x); };
  for (int j = 0; j < 4; ++j) {  // a[4 i + j] has words j, 4 + j, 8 + j, 12 + j of rows 4 i to 4 i + 3
    const __m512i even = _mm512_shuffle_i32x4(a[j], a[4 + j], 0x88), odd = _mm512_shuffle_i32x4(a[j], a[4 + j], 0xdd);
    const __m512i even_high = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0x88);
    const __m512i odd_high = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0xdd);
    put(j, _mm512_shuffle_i32x4(even, even_high, 0x88));
    put(4 + j, _mm512_shuffle_i32x4(odd, odd_high, 0x88));
    put(8 + j, _mm512_shuffle_i32x4(even, even_high, 0xdd));
    put(12 + j, _mm512_shuffle_i32x4(odd, odd_high, 0xdd));
  }
}
#else
inline void turn(const void* from, int64_t from_stride, void* to, int64_t to_stride) {
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      std::memcpy(static_cast<char*>(to) + j * to_stride + i * 4,
                  static_cast<const char*>(from) + i * from_stride + j * 4, 4);
}
#endif

struct Rows {
  const void* at;
  int64_t stride;  // bytes
};

// 16 rows by 32 columns of a matrix [rows, in] of bf16: where they stand, or copied among zeros where they reach over
// its end.
inline Rows whole_rows(const uint16_t* matrix, int64_t rows, int64_t in, int64_t row, int64_t column,
                       uint16_t (&edge)[tile_rows][tile_columns]) {
  const uint16_t* at = matrix + row * in + column;
  if (row + tile_rows <= rows && column + tile_columns <= in) return {at, in * 2};
  std::memset(edge, 0, sizeof edge);
  const auto bytes = static_cast<size_t>(at_most(tile_columns, in - column) * 2);
  for (int64_t i = 0; i < at_most(tile_rows, rows - row); ++i) std::memcpy(edge[i], at + i * in, bytes);
  return {edge, tile_columns * 2};
}

template <class Tiles, int Blocks, int Groups>
inline void multiply_rows(const RoundedRowTile& tile, int64_t row, int64_t column, int64_t columns,
                          float (*sums)[2][tile_rows * 16], RowWork& work) {
  const auto* weights = reinterpret_cast<const uint16_t*>(tile.weights);
  Tiles::template load<0>(sums[0][0], tile_bytes);
  if constexpr (Groups == 2) Tiles::template load<1>(sums[0][1], tile_bytes);
  if constexpr (Blocks == 2) Tiles::template load<2>(sums[1][0], tile_bytes);
  if constexpr (Blocks == 2 && Groups == 2) Tiles::template load<3>(sums[1][1], tile_bytes);
  for (int64_t c = 0; c < columns; c += tile_columns) {
    const Rows first = whole_rows(weights, tile.rows, tile.in, row, column + c, work.edge[0]);
    Tiles::template load<4>(first.at, first.stride);
    Tiles::template load<6>(work.x[0][c / 2], tile_bytes);
    if constexpr (Blocks == 2) {
      const Rows second = whole_rows(weights, tile.rows, tile.in, row + tile_rows, column + c, work.edge[1]);
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
        const Rows x = whole_rows(tile.x, tile.tokens, tile.in, token + g * tile_rows, column + c, work.edge[0]);
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
