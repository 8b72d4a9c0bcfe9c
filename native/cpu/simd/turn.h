// Transposes 16 by 16 words. Also compiled without vectors, beside an emulation of the tiles.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

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

}  // namespace
