// Codes of packed weights (panel.h) taken apart, and activations rounded to codes, over a vector type V. Included by
// vector_panels.h.
#pragma once

#include "cpu/kernels/kernels.h"
#include "cpu/weights/packed_weights.h"

namespace {

using longhand::cpu::least_peak;
using longhand::cpu::most_code;
using longhand::cpu::TwoLevelTile;
using longhand::cpu::UnpackTile;

constexpr int64_t panel_lanes = 16, quad = 64, columns = 32, block_bytes = 8 * quad;  // as in panel.h

template <class V>
void from_bf16(const std::byte* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) V::store(to + i, V::load_bf16(from + 2 * i));
  if (n > i) V::store_part(to + i, V::load_bf16_part(from + 2 * i, n - i), n - i);
}

template <class V>
void two_level(const TwoLevelTile& tile) {
  for (int64_t g = tile.first; g < tile.first + tile.count; ++g) {
    for (int64_t lane = 0; lane < panel_lanes; lane += V::width) {
      const typename V::F d = V::load_f16(tile.d + 2 * (g / tile.groups_a_super * panel_lanes + lane));
      const int64_t at = g * panel_lanes + lane;
      float* to = tile.to + (g - tile.first) * panel_lanes + lane;
      V::store(to, tile.scales ? V::mul(d, V::load_s8(tile.scales + at))
                               : V::mul(V::sub(V::zero(), d), V::load_u8(tile.minima + at)));
    }
  }
}

// Vectors of V that make the 16 lanes of a panel.
template <class V>
constexpr int64_t parts = panel_lanes / V::width;

// To the right, or by less than nothing to the left.
template <class V, int N>
inline typename V::I shifted(typename V::I x) {
  if constexpr (N > 0) return V::template right<N>(x);
  else if constexpr (N < 0) return V::template left<-N>(x);
  else return x;
}

// Quad I of a block as bytes, one vector of it (`block` points at that part of quad 0); the planes of panel.h.
template <class V, int Bits, bool Table, int I>
inline typename V::I code_quad(const uint8_t* block, const uint8_t* table) {
  const auto plane = [&](int64_t n) { return V::load_quad(block + n * quad); };
  typename V::I code;
  if constexpr (Bits == 8) code = plane(I);
  else if constexpr (Bits >= 4) code = V::masked(I % 2 ? V::template right<4>(plane(I / 2)) : plane(I / 2), 15);
  else code = V::masked(V::template right<I % 4 * 2>(plane(I / 4)), 3);
  if constexpr (Bits == 6) code = V::with_bits(code, shifted<V, I % 4 * 2 - 4>(plane(4 + I / 4)), 3 << 4);
  if constexpr (Bits == 5) code = V::with_bits(code, shifted<V, I - 4>(plane(4)), 1 << 4);
  if constexpr (Bits == 3) code = V::with_bits(code, shifted<V, I - 2>(plane(2)), 1 << 2);
  if constexpr (Table) code = V::lookup(code, table);
  return code;
}

// Calls use<I>() for I in [First, Last).
template <int First, int Last, class Use>
inline void for_quads(const Use& use) {
  if constexpr (First < Last) {
    use.template operator()<First>();
    for_quads<First + 1, Last>(use);
  }
}

// Panels stand one after the other, so what lies ahead of a block are the scales and codes of the next panel too. Into
// the second-level cache: the few lines that the first level can wait for at a time are left to the products.
constexpr int64_t bytes_ahead = 4096;
template <int Bits>
[[gnu::always_inline]] inline void prefetch_block(const uint8_t* block) {
  for (int64_t line = 0; line < Bits; ++line) __builtin_prefetch(block + bytes_ahead + line * quad, 0, 2);
}

template <class V, int Bits, bool Table>
void unpack_blocks(const UnpackTile& tile) {
  for (int64_t b = 0; b < tile.blocks; ++b) {
    const uint8_t* from = tile.from + b * Bits * quad;
    uint8_t* to = tile.to + b * block_bytes;
    prefetch_block<Bits>(from);
    for (int64_t part = 0; part < quad; part += V::width * 4)
      for_quads<0, 8>(
          [&]<int I>() { V::store_quad(to + I * quad + part, code_quad<V, Bits, Table, I>(from + part, tile.table)); });
  }
}

template <class V>
void unpack(const UnpackTile& tile) {
  switch (tile.bits) {
    case 2: return unpack_blocks<V, 2, false>(tile);
    case 3: return unpack_blocks<V, 3, false>(tile);
    case 4: return tile.table ? unpack_blocks<V, 4, true>(tile) : unpack_blocks<V, 4, false>(tile);
    case 5: return unpack_blocks<V, 5, false>(tile);
    case 6: return unpack_blocks<V, 6, false>(tile);
    default: return unpack_blocks<V, 8, false>(tile);
  }
}

// Four blocks, whose steps are found together.
template <class V>
inline void quantise_four(const float* x, int8_t* high, int8_t* low, float* scales) {
  using F = typename V::F;
  const auto peak_of = [&](int64_t first) {
    return V::max(V::abs(V::load(x + first)), V::abs(V::load(x + first + V::width)));
  };
  const F peaks = V::largest_of_four(peak_of(0), peak_of(columns), peak_of(2 * columns), peak_of(3 * columns));
  V::store_quarters(scales, V::div(peaks, V::set(most_code)));
  const F inverses = V::where_at_least(peaks, V::set(least_peak), V::div(V::set(most_code), peaks));
  for_quads<0, 4>([&]<int Block>() {
    const F inverse = V::template quarter<Block>(inverses);
    for (int64_t i = Block * columns; i < (Block + 1) * columns; i += V::width)
      V::store_rounded(high + i, low + i, V::mul(V::load(x + i), inverse));
  });
}

template <class V>
void quantise(const float* x, int64_t n, int8_t* high, int8_t* low, float* scales, int32_t* sums) {
  int64_t first = 0;
  if constexpr (V::width == 16) {
    for (; first + 4 * columns <= n; first += 4 * columns)
      quantise_four<V>(x + first, high + first, low + first, scales + first / columns);
    // Afterwards: a vector cannot be read while the parts of it are still on their way to the cache.
    for (int64_t i = 0; i < first; i += 64) V::store_code_sums(sums + i / 16, high + i, low + i);
  }
  for (; first < n; first += columns) {
    typename V::F most = V::zero();
    for (int64_t i = 0; i < columns; i += V::width) most = V::max(most, V::abs(V::load(x + first + i)));
    const float peak = V::largest(most);
    scales[first / columns] = peak / most_code;
    const typename V::F inverse = V::set(peak >= least_peak ? most_code / peak : 0.0f);
    for (int64_t half = first; half < first + columns; half += 16) {
      int32_t sum = 0;
      for (int64_t i = half; i < half + 16; i += V::width)
        sum += V::store_rounded(high + i, low + i, V::mul(V::load(x + i), inverse));
      sums[half / 16] = sum;
    }
  }
}

}  // namespace
