// The products of causal attention in tile registers.
#pragma once

#include "cpu/simd/causal_attention.h"
#include "cpu/simd/tiles/tiles.h"

namespace {

// Four sums of 16 by 16: two loads of A and two of B serve four products.
template <class Tiles>
struct TileProducts {
  static void begin() { Tiles::configure(groups_of(tile_rows, tile_rows)); }
  static void end() { Tiles::release(); }

  static void multiply(const uint16_t* a, int64_t a_stride, const uint32_t* b, int64_t depth, float* c, bool adds) {
    constexpr int64_t stride = rounded_rows * 4;
    float* more = c + tile_rows * rounded_rows;
    if (adds) {
      Tiles::template load<0>(c, stride);
      Tiles::template load<1>(c + tile_rows, stride);
      Tiles::template load<2>(more, stride);
      Tiles::template load<3>(more + tile_rows, stride);
    } else {
      Tiles::template zero<0>();
      Tiles::template zero<1>();
      Tiles::template zero<2>();
      Tiles::template zero<3>();
    }
    for (int64_t k = 0; k < depth; k += tile_columns, b += tile_rows * rounded_rows) {
      Tiles::template load<4>(a + k, a_stride * 2);
      Tiles::template load<6>(b, stride);
      Tiles::template load<7>(b + tile_rows, stride);
      Tiles::template load<5>(a + tile_rows * a_stride + k, a_stride * 2);
      Tiles::template multiply_bf16<0, 4, 6>();
      Tiles::template multiply_bf16<1, 4, 7>();
      Tiles::template multiply_bf16<2, 5, 6>();
      Tiles::template multiply_bf16<3, 5, 7>();
    }
    Tiles::template store<0>(c, stride);
    Tiles::template store<1>(c + tile_rows, stride);
    Tiles::template store<2>(more, stride);
    Tiles::template store<3>(more + tile_rows, stride);
  }
};

}  // namespace
