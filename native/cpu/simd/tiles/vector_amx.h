// The tile instructions of AMX. Included by files compiled for amx-tile and amx-bf16 only. The register is a
// part of the instruction, and the compiler's intrinsics want it as a written number.
#pragma once

#include <immintrin.h>

#include "cpu/simd/tiles/tiles.h"

namespace {

struct Amx {
  // GCC's intrinsics do not declare that they read memory: this forces pending stores to be written first.
  static void written() { asm volatile("" ::: "memory"); }

  static void configure(const TileShapes& shapes) {
    written();
    _tile_loadconfig(&shapes);
  }
  static void release() { _tile_release(); }

  template <int Sum>
  static void zero() {
    static_assert(Sum < 4);
    if constexpr (Sum == 0) _tile_zero(0);
    if constexpr (Sum == 1) _tile_zero(1);
    if constexpr (Sum == 2) _tile_zero(2);
    if constexpr (Sum == 3) _tile_zero(3);
  }
  template <int Tile>
  static void load(const void* from, int64_t stride) {
    written();
    if constexpr (Tile == 0) _tile_loadd(0, from, stride);
    if constexpr (Tile == 1) _tile_loadd(1, from, stride);
    if constexpr (Tile == 2) _tile_loadd(2, from, stride);
    if constexpr (Tile == 3) _tile_loadd(3, from, stride);
    if constexpr (Tile == 4) _tile_loadd(4, from, stride);
    if constexpr (Tile == 5) _tile_loadd(5, from, stride);
    if constexpr (Tile == 6) _tile_loadd(6, from, stride);
    if constexpr (Tile == 7) _tile_loadd(7, from, stride);
  }
  template <int Sum>
  static void store(void* to, int64_t stride) {
    static_assert(Sum < 4);
    if constexpr (Sum == 0) _tile_stored(0, to, stride);
    if constexpr (Sum == 1) _tile_stored(1, to, stride);
    if constexpr (Sum == 2) _tile_stored(2, to, stride);
    if constexpr (Sum == 3) _tile_stored(3, to, stride);
  }
  template <int Sum, int A, int B>
  static void multiply_bf16() {
    static_assert((A == 4 || A == 5) && (B == 6 || B == 7) && Sum == 2 * (A - 4) + B - 6);
    if constexpr (Sum == 0) _tile_dpbf16ps(0, 4, 6);
    if constexpr (Sum == 1) _tile_dpbf16ps(1, 4, 7);
    if constexpr (Sum == 2) _tile_dpbf16ps(2, 5, 6);
    if constexpr (Sum == 3) _tile_dpbf16ps(3, 5, 7);
  }
};

}  // namespace
