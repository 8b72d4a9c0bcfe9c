// Products with packed weights (panel.h) over a vector type V. Included by the files of kernels_*.cc only.
#pragma once

#include "cpu/simd/vector_codes.h"
#include "cpu/simd/vector_quads.h"
#include "cpu/simd/vector_token_blocks.h"

namespace {

using longhand::cpu::PackedScales;
using longhand::cpu::ScaleKind;

// What lies ahead of a block in each of its panels; inline, since GCC leaves out calls that only prefetch. Behind the
// first of two stands the second, which is being read: past its end the next but one comes.
template <class V, int P, int Bits>
[[gnu::always_inline]] inline void prefetch_panels(const PanelTile& tile, int64_t block) {
  const int64_t skip = block + bytes_ahead / (Bits * quad) < tile.blocks ? 0 : (tile.panels - 1) * tile.code_stride;
  const uint8_t* from = tile.codes + block * Bits * quad + skip;
  for (int p = 0; p < P; p += static_cast<int>(parts<V>))
    prefetch_block<Bits>(from + panel_of<V>(p) * tile.code_stride);
}

// Scales of part `part` of group `group` as they are packed, `panel` bytes further; the bits of decode_scales.
template <class V>
inline typename V::F packed_scale(const PackedScales& from, int64_t panel, int64_t group, int64_t part) {
  const int64_t at = group * panel_lanes + part * V::width;
  const std::byte* scales = from.scales + panel;
  const auto scale = [&] {
    switch (from.kind) {
      case ScaleKind::f16: return V::load_f16(scales + 2 * at);
      case ScaleKind::bf16: return V::load_bf16(scales + 2 * at);
      case ScaleKind::f32: return V::load(reinterpret_cast<const float*>(scales) + at);
      default: break;
    }
    const int64_t super = (group >> from.super_shift) * panel_lanes + part * V::width;
    return V::mul(V::load_f16(scales + 2 * super), V::load_s8(from.integers + panel + at));
  };
  return from.global == 1.0f ? scale() : V::mul(scale(), V::set(from.global));
}

template <class V>
inline typename V::F packed_bias(const PackedScales& from, int64_t panel, int64_t group, int64_t part) {
  const int64_t at = group * panel_lanes + part * V::width;
  const std::byte* biases = from.biases + panel;
  switch (from.kind) {
    case ScaleKind::f16: return V::load_f16(biases + 2 * at);
    case ScaleKind::bf16: return V::load_bf16(biases + 2 * at);
    case ScaleKind::f32: return V::load(reinterpret_cast<const float*>(biases) + at);
    default: break;
  }
  const int64_t super = (group >> from.super_shift) * panel_lanes + part * V::width;
  return V::mul(V::sub(V::zero(), V::load_f16(biases + 2 * super)), V::load_u8(from.minima + panel + at));
}

// Scales of vector p of a tile, and its biases, or zero where there are none.
template <class V, bool Packed>
inline void panel_scales(const PanelTile& tile, int p, int64_t group, bool biased, typename V::F& scale,
                         typename V::F& bias) {
  if constexpr (Packed) {
    const int64_t panel = panel_of<V>(p) * tile.code_stride;
    scale = packed_scale<V>(*tile.packed, panel, group, part_of<V>(p));
    bias = biased ? packed_bias<V>(*tile.packed, panel, group, part_of<V>(p)) : V::zero();
  } else {
    const int64_t from = panel_of<V>(p) * tile.scale_stride + group * panel_lanes + part_of<V>(p) * V::width;
    scale = V::load(tile.scales + from);
    bias = biased ? V::load(tile.biases + from) : V::zero();
  }
}

// M tokens times P vectors of rows. Accumulators of one run of columns are integers, of the high and of the low bytes
// of x; the sums of all runs stay in registers as long as there are any.
template <class V, int M, int P, int Bits, bool Table, bool Half, Codes Width, bool Packed>
inline void fast_tokens(const PanelTile& tile, int64_t token) {
  using F = typename V::F;
  using I = typename V::I;
  constexpr int runs = Half ? 2 : 1;
  float* to = tile.sums + token * tile.panels * panel_lanes;
  const int8_t* x = tile.x_codes + 2 * token * tile.x_stride;
  const int group_shift = __builtin_ctzll(static_cast<uint64_t>(tile.group));
  F sum[M][P];
  for (int m = 0; m < M; ++m)
    for (int p = 0; p < P; ++p) sum[m][p] = V::load(to + m * tile.panels * panel_lanes + p * V::width);
  for (int64_t block = 0; block < tile.blocks; ++block) {
    const uint8_t* codes = tile.codes + block * Bits * quad;
    if constexpr (Packed) prefetch_panels<V, P, Bits>(tile, block);
    const auto add_runs = [&]<bool Both>() {
      for_quads<0, runs>([&]<int Run>() {
        constexpr int rows = Both ? 2 * M : M;
        I products[rows][P];
        int32_t x_sum[M];
        for (int m = 0; m < M; ++m) {
          const int32_t* sums = tile.x_code_sums + (token + m) * tile.sum_step + 2 * block;
          x_sum[m] = Half ? sums[Run] : sums[0] + sums[1];
          const I start = V::set_int((V::bias(Width == Codes::wide) - tile.zero) * (Both ? x_sum[m] : x_sum[m] >> 7));
          for (int p = 0; p < P; ++p) {
            if (Both) products[2 * m][p] = V::set_int(0);
            products[Both ? 2 * m + 1 : m][p] = start;
          }
        }
        multiply_quads<V, rows, P, Bits, Table, Width, Run * 4, Half ? Run * 4 + 4 : 8>(
            tile, codes, x + block * columns, (Both ? 1 : 2) * tile.x_stride, products);
        const int64_t group = (block * columns + Run * 16) >> group_shift;
        const bool biased = Packed ? tile.packed->biases != nullptr : tile.biases != nullptr;
        F scale[P], bias[P];
        for (int p = 0; p < P; ++p) panel_scales<V, Packed>(tile, p, group, biased, scale[p], bias[p]);
        for (int m = 0; m < M; ++m) {
          const float x_scale = tile.x_scales[(token + m) * tile.scale_step + block];
          const F step = V::set(Both ? x_scale : 128.0f * x_scale);
          for (int p = 0; p < P; ++p) {
            const F product =
                V::to_float(Both ? V::joined(products[rows == M ? m : 2 * m][p], products[rows == M ? m : 2 * m + 1][p])
                                 : products[m][p]);
            sum[m][p] = V::fused(product, V::mul(scale[p], step), sum[m][p]);
          }
          if (biased) {
            const F whole = V::set(x_scale * static_cast<float>(x_sum[m]));
            for (int p = 0; p < P; ++p) sum[m][p] = V::fused(bias[p], whole, sum[m][p]);
          }
        }
      });
    };
    // Without low bytes half of the products would add nothing: the same bits without them.
    if constexpr (!Packed && !(V::pairs && M % 2 == 1)) {
      if (tile.x_low) {
        int low = 0;
        for (int m = 0; m < M; ++m) low |= tile.x_low[(token + m) * tile.scale_step + block];
        if (low == 0) {
          add_runs.template operator()<false>();
          continue;
        }
      }
    }
    add_runs.template operator()<true>();
  }
  for (int m = 0; m < M; ++m)
    for (int p = 0; p < P; ++p) V::store(to + m * tile.panels * panel_lanes + p * V::width, sum[m][p]);
}

// In place of PanelTile::x_low where every block has its low bytes.
constexpr uint8_t always_low = 1;

// The bits of fast_tokens where registers hold the codes of a whole block: they are loaded or taken apart once for all
// tokens, which come one after the other, and only the tokens that need it pay for their low bytes. Sums stay in
// memory.
template <class V, int P, int Bits, bool Table, bool Half, Codes Width, bool Packed>
inline void fast_by_token(const PanelTile& tile) {
  using F = typename V::F;
  using I = typename V::I;
  constexpr int runs = Half ? 2 : 1, quads = 8 / runs;
  const int group_shift = __builtin_ctzll(static_cast<uint64_t>(tile.group));
  const bool biased = Packed ? tile.packed->biases != nullptr : tile.biases != nullptr;
  for (int64_t block = 0; block < tile.blocks; ++block) {
    if constexpr (Packed) prefetch_panels<V, P, Bits>(tile, block);
    F scale[runs][P], bias[runs][P];
    for (int run = 0; run < runs; ++run) {
      const int64_t group = (block * columns + run * 16) >> group_shift;
      for (int p = 0; p < P; ++p) panel_scales<V, Packed>(tile, p, group, biased, scale[run][p], bias[run][p]);
    }
    I codes[8][P];
    for_quads<0, 8>([&]<int Q>() {
      for (int p = 0; p < P; ++p)
        codes[Q][p] =
            V::held(code_quad<V, Bits, Table, Q>(tile.codes + block * Bits * quad + p * tile.code_stride, tile.table));
    });
    // Pointers that walk: a vector that is stored may overlap `tile`, which would be read again for every token.
    float* to = tile.sums;
    const int8_t* x = tile.x_codes + block * columns;
    const int32_t* x_sums = tile.x_code_sums + 2 * block;
    const float* x_scales = tile.x_scales + block;
    const uint8_t* low = tile.x_low ? tile.x_low + block : &always_low;
    const int64_t x_stride = tile.x_stride, sum_step = tile.sum_step, scale_step = tile.scale_step;
    const int64_t low_step = tile.x_low ? scale_step : 0;
    const int32_t offset = V::bias(Width == Codes::wide) - tile.zero;
    for (int64_t token = tile.tokens; token > 0; --token) {
      const float x_scale = *x_scales;
      F sum[P];
      for (int p = 0; p < P; ++p) sum[p] = V::load(to + p * panel_lanes);
      const auto add_runs = [&]<bool Both>() {
        const F step = V::set(Both ? x_scale : 128.0f * x_scale);
        for_quads<0, runs>([&]<int Run>() {
          const int32_t x_sum = Half ? x_sums[Run] : x_sums[0] + x_sums[1];
          const I start = V::set_int(offset * (Both ? x_sum : x_sum >> 7));
          I high[P], rest_sum[P];
          for (int p = 0; p < P; ++p) {
            high[p] = Both ? V::set_int(0) : start;
            rest_sum[p] = start;
          }
          for_quads<Run * quads, Run * quads + quads>([&]<int Q>() {
            const I input = V::four(x + 4 * Q);
            for (int p = 0; p < P; ++p)
              high[p] = V::template dot4 < Width == Codes::wide > (high[p], codes[Q][p], input);
            if constexpr (Both) {
              const I rest = V::four(x + x_stride + 4 * Q);
              for (int p = 0; p < P; ++p)
                rest_sum[p] = V::template dot4 < Width == Codes::wide > (rest_sum[p], codes[Q][p], rest);
            }
          });
          for (int p = 0; p < P; ++p) {
            const F product = V::to_float(Both ? V::joined(high[p], rest_sum[p]) : high[p]);
            sum[p] = V::fused(product, V::mul(scale[Run][p], step), sum[p]);
            if (biased) sum[p] = V::fused(bias[Run][p], V::set(x_scale * static_cast<float>(x_sum)), sum[p]);
          }
        });
      };
      if (*low == 0) add_runs.template operator()<false>();
      else add_runs.template operator()<true>();
      for (int p = 0; p < P; ++p) V::store(to + p * panel_lanes, sum[p]);
      to += P * panel_lanes;
      x += 2 * x_stride;
      x_sums += sum_step;
      x_scales += scale_step;
      low += low_step;
    }
  }
}

template <class V, int M, int P, bool Half>
inline void exact_tokens(const PanelTile& tile, int64_t token) {
  using F = typename V::F;
  constexpr int64_t run = Half ? 16 : 32;
  const F zero = V::set(static_cast<float>(tile.zero));
  for (int p = 0; p < P; ++p) {
    const int64_t panel = p / parts<V>, part = p % parts<V>;
    float* to = tile.sums + token * tile.panels * panel_lanes + p * V::width;
    const float* x = tile.x + token * tile.x_stride;
    for (int64_t first = 0; first < tile.blocks * columns; first += run) {
      const uint8_t* codes = tile.codes + panel * tile.code_stride + first / columns * block_bytes +
                             first % columns / 4 * quad + part * V::width * 4;
      F products[M][4];
      for (int m = 0; m < M; ++m)
        for (int j = 0; j < 4; ++j) products[m][j] = V::zero();
      for (int64_t i = 0; i < run / 4; ++i) {
        const typename V::I w = V::load_quad(codes + i * quad);
        const F weights[4] = {V::sub(V::template byte<0>(w), zero), V::sub(V::template byte<1>(w), zero),
                              V::sub(V::template byte<2>(w), zero), V::sub(V::template byte<3>(w), zero)};
        for (int m = 0; m < M; ++m)
          for (int j = 0; j < 4; ++j)
            products[m][j] = V::fma(weights[j], V::set(x[m * tile.x_stride + first + 4 * i + j]), products[m][j]);
      }
      const int64_t at = panel * tile.scale_stride + first / tile.group * panel_lanes + part * V::width;
      const F scale = V::load(tile.scales + at);
      for (int m = 0; m < M; ++m) {
        float* sum = to + m * tile.panels * panel_lanes;
        const F all = V::add(V::add(products[m][0], products[m][1]), V::add(products[m][2], products[m][3]));
        F next = V::fma(all, scale, V::load(sum));
        if (tile.biases) {
          const float* sums = tile.x_sums + (token + m) * tile.sum_step + first / 16;
          next = V::fma(V::load(tile.biases + at), V::set(Half ? sums[0] : sums[0] + sums[1]), next);
        }
        V::store(sum, next);
      }
    }
  }
}

// Up to this many tokens panels are used as packed; beyond, unpacking them once pays.
template <class V>
constexpr int64_t few_tokens = parts<V> == 1 ? longhand::cpu::most_packed_tokens : 4;

// Calls tokens<M, P>(first token) for all tokens in tiles of Most (at most 4), then of 2 and 1: each size is code of
// its own.
template <int Most, int P, class Tokens>
inline void token_tiles(int64_t count, const Tokens& tokens) {
  int64_t token = 0;
  for (; token + Most <= count; token += Most) tokens.template operator()<Most, P>(token);
  if constexpr (Most > 2)
    for (; token + 2 <= count; token += 2) tokens.template operator()<2, P>(token);
  if constexpr (Most > 1)
    for (; token < count; ++token) tokens.template operator()<1, P>(token);
}

// With 32 wide registers one token after the other, and four that share the work of taking codes apart where groups are
// long or tokens few; with 16 one token, or two where a product takes both bytes at once.
template <class V, int Bits, bool Table, bool Half, Codes Width>
void fast_tile(const PanelTile& tile) {
  constexpr int one = static_cast<int>(parts<V>);
  const auto all = [&]<int Most, bool Packed>() {
    const auto tokens = [&]<int M, int P>(int64_t token) {
      fast_tokens<V, M, P, Bits, Table, Half, Width, Packed>(tile, token);
    };
    if (tile.panels == 2) return token_tiles<Most, 2 * one>(tile.tokens, tokens);
    token_tiles<Most, one>(tile.tokens, tokens);
  };
  const auto by_token = [&]<bool Packed>() {
    if (tile.panels == 2) return fast_by_token<V, 2, Bits, Table, Half, Width, Packed>(tile);
    fast_by_token<V, 1, Bits, Table, Half, Width, Packed>(tile);
  };
  constexpr bool unpacked = Bits == 8 && !Table;
  if constexpr (V::registers == 32 && one == 1) {
    if (tile.packed && Half && tile.tokens > 2) return by_token.template operator()<true>();
    if (tile.packed) return all.template operator()<4, true>();
    if constexpr (unpacked) {
      // Codes are signed bytes there.
      const bool fits = tile.code_bits < 8 || tile.zero == 128;
      if (!tile.x_blocks || !fits) return by_token.template operator()<false>();
      if (tile.panels == 2) return fast_token_blocks<V, 2, Half>(tile);
      fast_token_blocks<V, 1, Half>(tile);
    }
  } else {
    constexpr int most = V::pairs ? 2 : 1;
    if (tile.packed) return all.template operator()<most, true>();
    if constexpr (unpacked) all.template operator()<most, false>();
  }
}

// How wide codes are decides only where the set has no product of unsigned bytes, and then table codes always are wide.
template <class V, int Bits, bool Table>
void fast_codes(const PanelTile& tile) {
  const auto of_width = [&]<Codes Width>() {
    if (tile.group == 16) return fast_tile<V, Bits, Table, true, Width>(tile);
    fast_tile<V, Bits, Table, false, Width>(tile);
  };
  constexpr bool wide_matters = V::bias(true) != 0;
  if constexpr (wide_matters && Table) return of_width.template operator()<Codes::wide>();
  if constexpr (wide_matters && Bits == 8)
    if (tile.code_bits == 8) return of_width.template operator()<Codes::wide>();
  if constexpr (V::sums_of_16_bits && Bits == 8) {
    if (tile.code_bits == 6) return of_width.template operator()<Codes::six_bits>();
    if (tile.code_bits == 5) return of_width.template operator()<Codes::five_bits>();
  }
  if constexpr (!(wide_matters && Table))
    of_width.template operator()<Bits == 6 ? Codes::six_bits : Bits == 5 ? Codes::five_bits : Codes::four_bits>();
}

template <class V>
void panel_fast(const PanelTile& tile) {
  switch (tile.bits) {
    case 2: return fast_codes<V, 2, false>(tile);
    case 3: return fast_codes<V, 3, false>(tile);
    case 4: return tile.table ? fast_codes<V, 4, true>(tile) : fast_codes<V, 4, false>(tile);
    case 5: return fast_codes<V, 5, false>(tile);
    case 6: return fast_codes<V, 6, false>(tile);
    default: return fast_codes<V, 8, false>(tile);
  }
}

template <class V>
void panel_exact(const PanelTile& tile) {
  constexpr int one = static_cast<int>(parts<V>);
  const auto both = [&]<bool Half>() {
    const auto tokens = [&]<int M, int P>(int64_t token) { exact_tokens<V, M, P, Half>(tile, token); };
    if (tile.panels == 2) return token_tiles<4, 2 * one>(tile.tokens, tokens);
    token_tiles<4, one>(tile.tokens, tokens);
  };
  if (tile.group == 16) return both.template operator()<true>();
  both.template operator()<false>();
}

}  // namespace
