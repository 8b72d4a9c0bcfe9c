// Products of numbers rounded to bf16, 32 an instruction: bf16 weights, which are not widened, by activations, and
// attention. Only these loops; the rest of the set is that of kernels_avx512.cc.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>
#include <limits>

#include "cpu/kernels/kernels.h"
#include "cpu/simd/causal_attention.h"
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
  const uint16_t* x = tile.x + token * tile.x_stride;
  const auto add = [&](int64_t k, const auto& from) {
    __m512bh input[M];
    for (int m = 0; m < M; ++m) input[m] = from(x + m * tile.x_stride + k);
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

// ---- attention ----------------------------------------------------------------------------------------------------

// A vector holds one number of sixteen rows, so that no sum goes across a vector and the other operand is read one pair
// at a time.
__m512bh load_pairs(const uint32_t* p) { return (__m512bh)_mm512_loadu_si512(p); }
__m512bh same_pair(const void* p) {
  int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return (__m512bh)_mm512_set1_epi32(pair);
}

// C [K][rounded_rows] = start(k, g) + A [K] B [pairs][rounded_rows], given to finish(k, g, sum); pair i of row k of A
// is at a(k, i). With K = 8 sixteen sums hide the latency, and ten loads serve sixteen products: 196 of at most 233
// GFLOP a second and core on Zen 4, where fp32 reached 88 (test/bench/LEDGER.md).
template <int K, class A, class Start, class Finish>
void multiply_pairs_by_rows(const A& a, const uint32_t* b, int64_t pairs, const Start& start, const Finish& finish) {
  Rows sum[K];
  for (int k = 0; k < K; ++k)
    for (int g = 0; g < groups; ++g) sum[k][g] = start(k, g);
  for (int64_t i = 0; i < pairs; ++i) {
    __m512bh rows[groups];
    for (int g = 0; g < groups; ++g) rows[g] = load_pairs(b + i * rounded_rows + g * lanes);
    for (int k = 0; k < K; ++k) {
      const __m512bh pair = same_pair(a(k, i));
      for (int g = 0; g < groups; ++g) sum[k][g] = _mm512_dpbf16_ps(sum[k][g], pair, rows[g]);
    }
  }
  for (int k = 0; k < K; ++k)
    for (int g = 0; g < groups; ++g) finish(k, g, sum[k][g]);
}

// What causal_attention.h wants.
struct PairProducts {
  static void begin() {}
  static void end() {}

  static void multiply(const uint16_t* a, int64_t a_stride, const uint32_t* b, int64_t depth, float* c, bool adds) {
    constexpr int together = 8;
    for (int64_t k = 0; k < 32; k += together, a += together * a_stride, c += together * rounded_rows) {
      const auto of = [&](int row, int64_t pair) { return a + row * a_stride + 2 * pair; };
      const auto finish = [&](int row, int g, __m512 sum) {
        _mm512_storeu_ps(c + row * rounded_rows + g * lanes, sum);
      };
      if (adds)
        multiply_pairs_by_rows<together>(
            of, b, depth / 2, [&](int row, int g) { return _mm512_loadu_ps(c + row * rounded_rows + g * lanes); },
            finish);
      else multiply_pairs_by_rows<together>(of, b, depth / 2, [](int, int) { return _mm512_setzero_ps(); }, finish);
    }
  }
};

// Scores of K keys from `keys` on, and their largest.
template <int K>
void score(const RoundedAttentionTile& tile, const uint32_t* keys, float* scores, Rows& peak) {
  multiply_pairs_by_rows<K>([&](int k, int64_t i) { return keys + i * turned_keys + k; }, tile.q, (tile.dim + 1) / 2,
                            [](int, int) { return _mm512_setzero_ps(); },
                            [&](int k, int g, __m512 sum) {
                              peak[g] = _mm512_max_ps(peak[g], sum);
                              _mm512_store_ps(scores + k * rounded_rows + g * lanes, sum);
                            });
}

// o <- fade o + D dimensions of the values, weighed.
template <int D>
void add_values(const RoundedAttentionTile& tile, const uint32_t* weights, const uint32_t* values, int64_t pairs,
                const Rows& fade, float* o) {
  const auto at = [&](int d, int g) { return o + d * rounded_rows + g * lanes; };
  multiply_pairs_by_rows<D>([&](int d, int64_t j) { return values + j * tile.dim + d; }, weights, pairs,
                            [&](int d, int g) { return _mm512_mul_ps(_mm512_loadu_ps(at(d, g)), fade[g]); },
                            [&](int d, int g, __m512 sum) { _mm512_storeu_ps(at(d, g), sum); });
}

}  // namespace

void avx512bf16_attend_whole(const RoundedAttentionTile& tile) {
  constexpr int together = 8;
  const float none = -std::numeric_limits<float>::infinity();
  alignas(64) float scores[turned_keys * rounded_rows];
  alignas(64) uint32_t weights[turned_keys / 2 * rounded_rows];
  Rows peak, total, fade;
  for (int g = 0; g < groups; ++g) {
    peak[g] = _mm512_set1_ps(none);
    total[g] = _mm512_setzero_ps();
  }
  std::memset(tile.o, 0, static_cast<size_t>(tile.dim * rounded_rows) * sizeof(float));
  for (int64_t from = 0; from < tile.count; from += turned_keys) {
    const uint32_t *keys = tile.keys + from * ((tile.dim + 1) / 2), *values = tile.values + from / 2 * tile.dim;
    const int64_t count = tile.count - from < turned_keys ? tile.count - from : turned_keys, even = (count + 1) / 2 * 2;
    for (int g = 0; g < groups; ++g) fade[g] = peak[g];
    int64_t k = 0;
    for (; k + together <= count; k += together) score<together>(tile, keys + k, scores + k * rounded_rows, peak);
    for (; k < count; ++k) score<1>(tile, keys + k, scores + k * rounded_rows, peak);
    for (int64_t r = 0; r < (even - count) * rounded_rows; ++r) scores[count * rounded_rows + r] = none;
    for (int g = 0; g < groups; ++g) {
      fade[g] = power_of_two(_mm512_sub_ps(fade[g], peak[g]));
      total[g] = _mm512_mul_ps(total[g], fade[g]);
    }
    weigh(scores, even, peak, weights, total);
    int64_t d = 0;
    for (; d + together <= tile.dim; d += together)
      add_values<together>(tile, weights, values + d, even / 2, fade, tile.o + d * rounded_rows);
    for (; d < tile.dim; ++d) add_values<1>(tile, weights, values + d, even / 2, fade, tile.o + d * rounded_rows);
  }
  for (int64_t d = 0; d < tile.dim; ++d) {
    for (int g = 0; g < groups; ++g) {
      float* o = tile.o + d * rounded_rows + g * lanes;
      _mm512_storeu_ps(o, _mm512_div_ps(_mm512_loadu_ps(o), total[g]));
    }
  }
}

void avx512bf16_attend_causal(const RoundedCausalTile& tile) { attend_causal<PairProducts>(tile); }
void avx512bf16_pair_columns(const uint16_t* rows, int64_t width, uint32_t* to) { pair_columns(rows, width, to); }
void avx512bf16_turn_values(const uint16_t* rows, int64_t width, uint16_t* to) { turn_values(rows, width, to); }

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
