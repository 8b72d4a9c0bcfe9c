// bf16 weights times activations rounded to bf16, 32 products an instruction, without widening the weights. Only
// these loops; the rest of the set is that of kernels_avx512.cc.
#if defined(__x86_64__)

#include <immintrin.h>

#include "cpu/kernels/kernels.h"
#include "cpu/simd/vector_avx512.h"

namespace longhand::cpu {
namespace {

constexpr int64_t step = 32;  // columns a product

__m512bh load(const uint16_t* p) { return (__m512bh)_mm512_loadu_si512(p); }
__m512bh load_part(const uint16_t* p, int64_t n) {
  return (__m512bh)_mm512_maskz_loadu_epi16(static_cast<__mmask32>((1ull << n) - 1), p);
}

// R rows of W times M rows of x, one accumulator a product: its order of summation does not depend on R or M.
template <int R, int M>
void block(const RoundedRowTile& tile, int64_t row, int64_t token) {
  __m512 sum[R][M];
  for (int r = 0; r < R; ++r)
    for (int m = 0; m < M; ++m) sum[r][m] = _mm512_setzero_ps();
  const auto* w = reinterpret_cast<const uint16_t*>(tile.weights) + row * tile.in;
  const uint16_t* x = tile.x + token * tile.in;
  const auto add = [&](int64_t k, const auto& from) {
    __m512bh input[M];
    for (int m = 0; m < M; ++m) input[m] = from(x + m * tile.in + k);
    for (int r = 0; r < R; ++r) {
      if constexpr (M == 1) __builtin_prefetch(w + (R + r) * tile.in + k, 0, 2);
      const __m512bh weight = from(w + r * tile.in + k);
      for (int m = 0; m < M; ++m) sum[r][m] = _mm512_dpbf16_ps(sum[r][m], weight, input[m]);
    }
  };
  int64_t k = 0;
  for (; k + step <= tile.in; k += step) add(k, load);
  if (const int64_t left = tile.in - k; left > 0) add(k, [left](const uint16_t* p) { return load_part(p, left); });
  for (int m = 0; m < M; ++m) {
    float* y = tile.y + (token + m) * tile.y_stride + row;
    // Four sums together cost little more than one.
    if constexpr (R % 4 == 0)
      for (int r = 0; r < R; r += 4) Avx512::store_sums(y + r, sum[r][m], sum[r + 1][m], sum[r + 2][m], sum[r + 3][m]);
    else
      for (int r = 0; r < R; ++r) y[r] = Avx512::sum(sum[r][m]);
  }
}

// Eight chains hide their latency at one token; four rows by four tokens read each value for four products.
template <int M>
void rows_of_tokens(const RoundedRowTile& tile, int64_t token) {
  constexpr int R = M == 1 ? 8 : 4;
  int64_t row = 0;
  for (; row + R <= tile.rows; row += R) block<R, M>(tile, row, token);
  for (; row < tile.rows; ++row) block<1, M>(tile, row, token);
}

}  // namespace

void avx512bf16_rows(const RoundedRowTile& tile) {
  int64_t token = 0;
  for (; token + 4 <= tile.tokens; token += 4) rows_of_tokens<4>(tile, token);
  for (; token < tile.tokens; ++token) rows_of_tokens<1>(tile, token);
}

void avx512bf16_round(const float* x, int64_t n, uint16_t* to) {
  for (int64_t i = 0; i < n; i += 16) {
    const auto mask = static_cast<__mmask16>(n - i >= 16 ? 0xffff : (1 << (n - i)) - 1);
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, x + i));
    _mm256_mask_storeu_epi16(to + i, mask, (__m256i)rounded);
  }
}

}  // namespace longhand::cpu

#endif
