// Causal attention in tile registers: scores are keys by rows, so that the softmax (rounded_softmax.h) goes down the
// lanes and its weights are, two keys to a word, the second operand of the product with the values.
#pragma once

#include <limits>

#include "cpu/simd/rounded_softmax.h"
#include "cpu/simd/tiles.h"

namespace {

using longhand::cpu::TiledAttention;
constexpr int64_t keys_a_block = longhand::cpu::turned_keys;

// C [32][rounded_rows] = or (adds) += A [32][depth] B [depth / 2][rounded_rows] of pairs; strides in bytes.
template <class Tiles>
inline void multiply_32(const uint16_t* a, int64_t a_stride, const uint32_t* b, int64_t depth, float* c, bool adds) {
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
    Tiles::template load<4>(a + k, a_stride);
    Tiles::template load<6>(b, stride);
    Tiles::template load<7>(b + tile_rows, stride);
    Tiles::template load<5>(a + tile_rows * a_stride / 2 + k, a_stride);
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

// Scores of keys that a row does not see become -infinity; `key` is the number of the block's first.
inline void hide_keys(const TiledAttention& tile, int64_t key, float* scores) {
  const int64_t end = tile.first + tile.count;
  for (int g = 0; g < groups; ++g) {
    const __m512i limit =
        _mm512_min_epi32(_mm512_loadu_si512(tile.limits + g * lanes), _mm512_set1_epi32(static_cast<int32_t>(end)));
    for (int64_t j = 0; j < keys_a_block; ++j) {
      const __mmask16 hidden = _mm512_cmple_epi32_mask(limit, _mm512_set1_epi32(static_cast<int32_t>(key + j)));
      _mm512_mask_store_ps(scores + j * rounded_rows + g * lanes, hidden,
                           _mm512_set1_ps(-std::numeric_limits<float>::infinity()));
    }
  }
}

inline int32_t least(const int32_t* limits) {
  return _mm512_reduce_min_epi32(_mm512_min_epi32(_mm512_loadu_si512(limits), _mm512_loadu_si512(limits + lanes)));
}

// Rescales what has been summed so far to the new peaks.
inline void fade_sums(const TiledAttention& tile, const Rows& fade, Rows& total) {
  const __m512 one = _mm512_set1_ps(1.0f);
  if ((_mm512_cmp_ps_mask(fade[0], one, _CMP_NEQ_UQ) | _mm512_cmp_ps_mask(fade[1], one, _CMP_NEQ_UQ)) == 0) return;
  for (int g = 0; g < groups; ++g) {
    total[g] = _mm512_mul_ps(total[g], fade[g]);
    for (int64_t i = 0; i < tile.width; ++i) {
      float* o = tile.o + i * rounded_rows + g * lanes;
      _mm512_storeu_ps(o, _mm512_mul_ps(_mm512_loadu_ps(o), fade[g]));
    }
  }
}

template <class Tiles>
inline void attend_block(const TiledAttention& tile, int64_t from, Rows& peak, Rows& total) {
  alignas(64) float scores[keys_a_block * rounded_rows];
  alignas(64) uint32_t weights[keys_a_block / 2 * rounded_rows];
  const uint16_t *keys = tile.keys + from * tile.width, *values = tile.values + from * tile.width;
  for (int64_t j = 0; j < keys_a_block; j += 2 * tile_rows)
    multiply_32<Tiles>(keys + j * tile.width, tile.width * 2, tile.q, tile.width, scores + j * rounded_rows, false);
  const int64_t key = tile.first + from;
  if (key + keys_a_block > least(tile.limits) || from + keys_a_block > tile.count) hide_keys(tile, key, scores);
  Rows fade;
  for (int g = 0; g < groups; ++g) {
    const __m512 old = peak[g];
    for (int64_t j = 0; j < keys_a_block; ++j)
      peak[g] = _mm512_max_ps(peak[g], _mm512_load_ps(scores + j * rounded_rows + g * lanes));
    fade[g] = power_of_two(_mm512_sub_ps(old, peak[g]));
  }
  fade_sums(tile, fade, total);
  weigh(scores, keys_a_block, peak, weights, total);
  for (int64_t i = 0; i < tile.width; i += 2 * tile_rows)
    multiply_32<Tiles>(values + i * keys_a_block, keys_a_block * 2, weights, keys_a_block, tile.o + i * rounded_rows,
                       true);
}

// scalar::attend_tiles
template <class Tiles>
inline void attend_tiles(const TiledAttention& tile) {
  Tiles::configure(groups_of(tile_rows, tile_rows));
  Rows peak, total;
  for (int g = 0; g < groups; ++g) {
    peak[g] = _mm512_loadu_ps(tile.peak + g * lanes);
    total[g] = _mm512_loadu_ps(tile.total + g * lanes);
  }
  for (int64_t from = 0; from < tile.count; from += keys_a_block) attend_block<Tiles>(tile, from, peak, total);
  Tiles::release();
  for (int g = 0; g < groups; ++g) {
    _mm512_storeu_ps(tile.peak + g * lanes, peak[g]);
    _mm512_storeu_ps(tile.total + g * lanes, total[g]);
  }
  if (!tile.out) return;
  alignas(64) float shares[lanes][lanes];
  for (int g = 0; g < groups; ++g) {
    for (int64_t i = 0; i < tile.width; i += lanes) {
      for (int64_t k = 0; k < lanes; ++k)
        _mm512_store_ps(shares[k],
                        _mm512_div_ps(_mm512_loadu_ps(tile.o + (i + k) * rounded_rows + g * lanes), total[g]));
      turn(shares, tile_bytes, tile.out + g * lanes * tile.width + i, tile.width * 4);
    }
  }
}

inline void pair_columns(const uint16_t* rows, int64_t width, uint32_t* to) {
  for (int64_t r = 0; r < rounded_rows; r += tile_rows)
    for (int64_t c = 0; c < width; c += tile_columns)
      turn(rows + r * width + c, width * 2, to + c / 2 * rounded_rows + r, rounded_rows * 4);
}

inline void turn_values(const uint16_t* rows, int64_t width, uint16_t* to) {
  alignas(64) uint32_t pairs[tile_rows][tile_rows];
  const auto words = [&](int64_t row, int64_t column) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + row * width + column)));
  };
  for (int64_t c = 0; c < width; c += tile_rows) {
    for (int64_t key = 0; key < keys_a_block; key += 2 * tile_rows) {
      for (int64_t j = 0; j < tile_rows; ++j)
        _mm512_store_si512(pairs[j],
                           _mm512_or_si512(words(key + 2 * j, c), _mm512_slli_epi32(words(key + 2 * j + 1, c), 16)));
      turn(pairs, tile_bytes, to + c * keys_a_block + key, keys_a_block * 2);
    }
  }
}

}  // namespace
