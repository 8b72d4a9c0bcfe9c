// Causal attention over numbers rounded to bf16: scores are keys by rows, so that the softmax (rounded_softmax.h) goes
// down the lanes and its weights are, two keys to a word, the second operand of the product with the values.
//
// `Products` are the instructions: begin(), end(), and
//   multiply(a, a_stride, b, depth, c, adds): C [32][rounded_rows] = or (adds) += A [32][depth] B [depth /
//   2][rounded_rows] of pairs, `depth` a multiple of 32.
#pragma once

#include <limits>

#include "cpu/simd/rounded_softmax.h"
#include "cpu/simd/turn.h"

namespace {

using longhand::cpu::RoundedCausalTile;
constexpr int64_t keys_a_block = longhand::cpu::turned_keys, keys_a_product = 32;

// Scores of keys that a row does not see become -infinity; `key` is the number of the block's first.
inline void hide_keys(const RoundedCausalTile& tile, int64_t key, int64_t count, float* scores) {
  const int64_t end = tile.first + tile.count;
  for (int g = 0; g < groups; ++g) {
    const __m512i limit =
        _mm512_min_epi32(_mm512_loadu_si512(tile.limits + g * lanes), _mm512_set1_epi32(static_cast<int32_t>(end)));
    for (int64_t j = 0; j < count; ++j) {
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
inline void fade_sums(const RoundedCausalTile& tile, const Rows& fade, Rows& total) {
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

template <class Products>
inline void attend_block(const RoundedCausalTile& tile, int64_t from, Rows& peak, Rows& total) {
  alignas(64) float scores[keys_a_block * rounded_rows];
  alignas(64) uint32_t weights[keys_a_block / 2 * rounded_rows];
  const uint16_t *keys = tile.keys + from * tile.width, *values = tile.values + from * tile.width;
  const int64_t count = tile.count - from > keys_a_product ? keys_a_block : keys_a_product;
  for (int64_t j = 0; j < count; j += keys_a_product)
    Products::multiply(keys + j * tile.width, tile.width, tile.q, tile.width, scores + j * rounded_rows, false);
  const int64_t key = tile.first + from;
  if (key + count > least(tile.limits) || from + count > tile.count) hide_keys(tile, key, count, scores);
  Rows fade;
  for (int g = 0; g < groups; ++g) {
    const __m512 old = peak[g];
    for (int64_t j = 0; j < count; ++j)
      peak[g] = _mm512_max_ps(peak[g], _mm512_load_ps(scores + j * rounded_rows + g * lanes));
    fade[g] = power_of_two(_mm512_sub_ps(old, peak[g]));
  }
  fade_sums(tile, fade, total);
  weigh(scores, count, peak, weights, total);
  for (int64_t i = 0; i < tile.width; i += keys_a_product)
    Products::multiply(values + i * keys_a_block, keys_a_block, weights, count, tile.o + i * rounded_rows, true);
}

// scalar::attend_causal_rounded
template <class Products>
inline void attend_causal(const RoundedCausalTile& tile) {
  Products::begin();
  Rows peak, total;
  for (int g = 0; g < groups; ++g) {
    peak[g] = _mm512_loadu_ps(tile.peak + g * lanes);
    total[g] = _mm512_loadu_ps(tile.total + g * lanes);
  }
  for (int64_t from = 0; from < tile.count; from += keys_a_block) attend_block<Products>(tile, from, peak, total);
  Products::end();
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
      turn(shares, lanes * 4, tile.out + g * lanes * tile.width + i, tile.width * 4);
    }
  }
}

inline void pair_columns(const uint16_t* rows, int64_t width, uint32_t* to) {
  for (int64_t r = 0; r < rounded_rows; r += lanes)
    for (int64_t c = 0; c < width; c += 2 * lanes)
      turn(rows + r * width + c, width * 2, to + c / 2 * rounded_rows + r, rounded_rows * 4);
}

inline void turn_values(const uint16_t* rows, int64_t width, uint16_t* to) {
  alignas(64) uint32_t pairs[lanes][lanes];
  const auto words = [&](int64_t row, int64_t column) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + row * width + column)));
  };
  for (int64_t c = 0; c < width; c += lanes) {
    for (int64_t key = 0; key < keys_a_block; key += 2 * lanes) {
      for (int64_t j = 0; j < lanes; ++j)
        _mm512_store_si512(pairs[j],
                           _mm512_or_si512(words(key + 2 * j, c), _mm512_slli_epi32(words(key + 2 * j + 1, c), 16)));
      turn(pairs, lanes * 4, to + c * keys_a_block + key, keys_a_block * 2);
    }
  }
}

}  // namespace
