// Packed codes to bf16 tiles, sixteen rows a vector. Included by files compiled for AVX-512 only.
#pragma once

#include <immintrin.h>

#include "cpu/kernels/kernels.h"
#include "cpu/weights/packed_weights.h"

namespace {

using longhand::cpu::block_columns;
using longhand::cpu::DecodeTile;
using longhand::cpu::quad_bytes;

// Values of 16 rows in two neighbouring columns, side by side and rounded: to the nearest, halves away from zero.
inline __m512i beside(__m512 first, __m512 second) {
  const __m512i half = _mm512_set1_epi32(0x8000), high = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  const __m512i low = _mm512_srli_epi32(_mm512_add_epi32(_mm512_castps_si512(first), half), 16);
  const __m512i above = _mm512_add_epi32(_mm512_castps_si512(second), half);
  return _mm512_ternarylogic_epi32(high, above, low, 0xea);  // (high & above) | low
}

// What a code is worth in each row.
template <bool Biased>
struct Worth {
  __m512 scale, bias;
  __m512 of(__m512 code) const {
    if constexpr (Biased) return _mm512_fmadd_ps(code, scale, bias);
    return _mm512_mul_ps(code, scale);
  }
};

template <bool Biased>
inline Worth<Biased> worth_at(const DecodeTile& tile, int64_t column) {
  const int64_t at = column / tile.group * 16;
  return {_mm512_loadu_ps(tile.scales + at), Biased ? _mm512_loadu_ps(tile.biases + at) : _mm512_setzero_ps()};
}

// 4 bits: a plane of 64 bytes holds two quads, eight columns of every row in its 32 bits, and what a code stands for is
// looked up by its bits where they are.
template <bool Biased>
inline void decode_nibbles(const DecodeTile& tile) {
  float of_code[16];
  for (int code = 0; code < 16; ++code)
    of_code[code] = static_cast<float>((tile.table ? tile.table[code] : code) - tile.zero);
  const __m512 numbers = _mm512_loadu_ps(of_code);
  for (int64_t b = 0; b < tile.blocks; ++b) {
    for (int64_t plane = 0; plane < 4; ++plane) {
      const __m512i codes = _mm512_loadu_si512(tile.codes + (b * 4 + plane) * quad_bytes);
      const Worth<Biased> worth = worth_at<Biased>(tile, b * block_columns + plane * 8);
      uint16_t* to = tile.to + b * longhand::cpu::decoded_block + plane * 4 * 32;
      const auto pair = [&]<int Shift>(int64_t number) {
        const __m512 first = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, Shift), numbers);
        const __m512 second = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, Shift + 8), numbers);
        _mm512_storeu_si512(to + number * 32, beside(worth.of(first), worth.of(second)));
      };
      pair.template operator()<0>(0);
      pair.template operator()<16>(1);
      pair.template operator()<4>(2);
      pair.template operator()<20>(3);
    }
  }
}

// One block of codes of a byte each.
template <bool Biased>
inline void decode_bytes(const DecodeTile& tile, int64_t block, const uint8_t* codes) {
  const __m512i byte = _mm512_set1_epi32(0xff), zero = _mm512_set1_epi32(tile.zero);
  uint16_t* to = tile.to + block * longhand::cpu::decoded_block;
  for (int64_t quad = 0; quad < 8; ++quad) {
    const __m512i four = _mm512_loadu_si512(codes + quad * quad_bytes);
    const Worth<Biased> worth = worth_at<Biased>(tile, block * block_columns + quad * 4);
    const auto value = [&]<int Shift>() {
      const __m512i code = _mm512_and_si512(_mm512_srli_epi32(four, Shift), byte);
      return worth.of(_mm512_cvtepi32_ps(_mm512_sub_epi32(code, zero)));
    };
    _mm512_storeu_si512(to + quad * 64, beside(value.template operator()<0>(), value.template operator()<8>()));
    _mm512_storeu_si512(to + quad * 64 + 32, beside(value.template operator()<16>(), value.template operator()<24>()));
  }
}

// scalar::decode_bf16; `unpack` gives codes of other widths a byte each.
inline void decode_panel(const DecodeTile& tile, void (*unpack)(const longhand::cpu::UnpackTile&)) {
  if (tile.bits == 4) return tile.biases ? decode_nibbles<true>(tile) : decode_nibbles<false>(tile);
  alignas(64) uint8_t unpacked[longhand::cpu::unpacked_block_bytes];
  for (int64_t b = 0; b < tile.blocks; ++b) {
    const uint8_t* codes = tile.codes + b * tile.bits * quad_bytes;
    if (tile.bits != 8 || tile.table) {
      unpack({codes, tile.bits, tile.table, 1, unpacked});
      codes = unpacked;
    }
    if (tile.biases) decode_bytes<true>(tile, b, codes);
    else decode_bytes<false>(tile, b, codes);
  }
}

}  // namespace
