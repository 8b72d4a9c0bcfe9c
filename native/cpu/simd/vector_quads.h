// Codes of a block times rounded activations, four columns at a time, over a vector type V. Included by
// vector_panels.h.
#pragma once

#include <algorithm>

#include "cpu/simd/vector_codes.h"

namespace {

using longhand::cpu::PanelTile;

// Where vector p of P stands: parts of one panel, or panels of one vector.
template <class V>
constexpr int panel_of(int p) {
  return p / static_cast<int>(parts<V>);
}
template <class V>
constexpr int part_of(int p) {
  return p % static_cast<int>(parts<V>);
}

// How wide codes are, as far as products with them differ.
enum class Codes { wide, six_bits, five_bits, four_bits };

// Quads whose products of two columns fit in a sum of 16 bits: twice the largest code times 127, for each.
constexpr int quads_in_16_bits(Codes codes) {
  return codes == Codes::four_bits ? 8 : codes == Codes::five_bits ? 4 : codes == Codes::six_bits ? 2 : 1;
}

// products[r][p] += codes times row r of x over quads [First, Last) of a block; `x` is the block's first column of row
// 0.
template <class V, int Rows, int P, int Bits, bool Table, Codes Width, int First, int Last>
inline void multiply_quads(const PanelTile& tile, const uint8_t* codes, const int8_t* x, int64_t x_stride,
                           typename V::I (&products)[Rows][P]) {
  using I = typename V::I;
  const auto quad_of = [&]<int Q>(int p) {
    const uint8_t* panel = codes + panel_of<V>(p) * tile.code_stride + part_of<V>(p) * V::width * 4;
    return code_quad<V, Bits, Table, Q>(panel, tile.table);
  };
  if constexpr (V::pairs) {
    // Two quads of four rows by two rows of x: a matrix product of two rows of eight by two columns of eight.
    I sums[Rows / 2][P][2] = {};
    for_quads<First / 2, Last / 2>([&]<int Q>() {
      I inputs[Rows / 2];
      for (int r = 0; r < Rows; r += 2)
        inputs[r / 2] = V::eight_of_two(x + r * x_stride + 8 * Q, x + (r + 1) * x_stride + 8 * Q);
      for (int p = 0; p < P; ++p) {
        const auto even = quad_of.template operator()<2 * Q>(p), odd = quad_of.template operator()<2 * Q + 1>(p);
        for (int r = 0; r < Rows / 2; ++r) V::multiply_pairs(sums[r][p], even, odd, inputs[r]);
      }
    });
    for (int r = 0; r < Rows / 2; ++r)
      for (int p = 0; p < P; ++p) V::add_pairs(sums[r][p], products[2 * r][p], products[2 * r + 1][p]);
  } else if constexpr (V::sums_of_16_bits && Width != Codes::wide) {
    // An addition of 16 bits a quad, and one of 32 for all that fit.
    constexpr int together = std::min(quads_in_16_bits(Width), Last - First);
    for_quads<First / together, Last / together>([&]<int T>() {
      I sums[Rows][P];
      for_quads<T * together, (T + 1) * together>([&]<int Q>() {
        I inputs[Rows];
        for (int r = 0; r < Rows; ++r) inputs[r] = V::four(x + r * x_stride + 4 * Q);
        for (int p = 0; p < P; ++p) {
          const I w = quad_of.template operator()<Q>(p);
          for (int r = 0; r < Rows; ++r) {
            const I product = V::dot2(w, inputs[r]);
            sums[r][p] = Q == T * together ? product : V::plus_16_bits(sums[r][p], product);
          }
        }
      });
      for (int r = 0; r < Rows; ++r)
        for (int p = 0; p < P; ++p) products[r][p] = V::plus(products[r][p], V::pairs_of_16_bits(sums[r][p]));
    });
  } else {
    for_quads<First, Last>([&]<int Q>() {
      I w[P];
      for (int p = 0; p < P; ++p) w[p] = V::held(quad_of.template operator()<Q>(p));
      for (int r = 0; r < Rows; ++r) {
        const I input = V::four(x + r * x_stride + 4 * Q);
        for (int p = 0; p < P; ++p)
          products[r][p] = V::template dot4 < Width == Codes::wide > (products[r][p], w[p], input);
      }
    });
  }
}

}  // namespace
