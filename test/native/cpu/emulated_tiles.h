// The tile instructions of AMX, for processors without them: what Intel's manual says of LDTILECFG, TILELOADD,
// TILESTORED and TDPBF16PS, and an end to the program where a processor would fault or the result would not be
// defined.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cpu/simd/tiles/tiles.h"
#include "cpu/weights/floats.h"

namespace {

struct EmulatedTiles {
  static void configure(const TileShapes& given) {
    expect(given.palette == 1 && given.first_row == 0, "the palette is 1");
    for (int i = 0; i < 8; ++i)
      expect(given.rows[i] <= 16 && given.row_bytes[i] <= 64 && given.row_bytes[i] % 4 == 0,
             "a tile is 16 by 64 bytes");
    shapes = given;
    configured = true;
    std::memset(tiles, 0, sizeof tiles);
  }
  static void release() { configured = false; }

  template <int Tile>
  static void zero() {
    expect(configured, "tiles are configured");
    std::memset(tiles[Tile], 0, sizeof tiles[Tile]);
  }
  template <int Tile>
  static void load(const void* from, int64_t stride) {
    zero<Tile>();
    for (int row = 0; row < shapes.rows[Tile]; ++row)
      std::memcpy(tiles[Tile][row], static_cast<const char*>(from) + row * stride, shapes.row_bytes[Tile]);
  }
  template <int Tile>
  static void store(void* to, int64_t stride) {
    expect(configured, "tiles are configured");
    for (int row = 0; row < shapes.rows[Tile]; ++row)
      std::memcpy(static_cast<char*>(to) + row * stride, tiles[Tile][row], shapes.row_bytes[Tile]);
  }

  template <int Sum, int A, int B>
  static void multiply_bf16() {
    for_products<Sum, A, B>([](const Word* a, int depth, int column, Word& sum) {
      float both[2] = {};
      for (int k = 0; k < depth; ++k)
        for (int i = 0; i < 2; ++i)
          both[i] = flushed(std::fma(number(a[k].halves[i]), number(tiles[B][k][column].halves[i]), both[i]));
      sum.real = flushed(sum.real + flushed(both[0] + both[1]));
    });
  }

 private:
  union Word {
    uint16_t halves[2];
    float real;
  };
  static inline thread_local TileShapes shapes;
  static inline thread_local bool configured = false;
  static inline thread_local Word tiles[8][16][16];

  static void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("[tiles] %s\n", what);
    std::exit(2);
  }
  static float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
  static float number(uint16_t half) { return flushed(longhand::cpu::from_bf16(half)); }

  // A is [rows, depth] of words, B [depth, columns], Sum [rows, columns].
  template <int Sum, int A, int B, class Product>
  static void for_products(const Product& product) {
    expect(configured, "tiles are configured");
    expect(shapes.rows[Sum] == shapes.rows[A] && shapes.row_bytes[Sum] == shapes.row_bytes[B] &&
               shapes.row_bytes[A] == 4 * shapes.rows[B],
           "the shapes of a product fit");
    for (int row = 0; row < shapes.rows[Sum]; ++row)
      for (int column = 0; column < shapes.row_bytes[Sum] / 4; ++column)
        product(tiles[A][row], shapes.row_bytes[A] / 4, column, tiles[Sum][row][column]);
  }
};

}  // namespace
