// Softmax attention for many queries at once (flash attention, arXiv 2205.14135): a threadgroup takes 32 rows, four
// simdgroups of 8, and reads every key and value once for all of them, where attention.metal reads them once for four.
// A row is a token's query head; the heads of a group, which share keys, stand beside one another, so that a tile spans
// few tokens and little of it lies above the diagonal. Blocks of keys behind the tile's last token are never read, and
// only blocks on the diagonal are masked.
//
// Queries and sums stay in registers. For heads above 128 both together would not fit (128 floats a lane): two
// threadgroups share the rows then, each with one half of the values' dimensions, and both compute the scores. What a
// query has beyond 208 dimensions lies in threadgroup memory: with all of 256, a lane needed 137 registers of the 128
// that an M1 has.
//
// Scores and sums are 8 x 8 matrices, fp32. A row's sum is rescaled by a diagonal matrix when its maximum
// grows, which is rare after the first blocks.
#include "params.h"
#include "shared/cache.h"
#include "shared/instantiate.h"

#include <metal_simdgroup_matrix>

constant uint DIM [[function_constant(10)]];
constant bool CAUSAL [[function_constant(11)]];
constant uint HEADS [[function_constant(21)]];  // query heads of one group a threadgroup: 1, 2, 4 or 8

constant constexpr uint ROWS = 8;  // a simdgroup
constant constexpr uint SIMDGROUPS = 4;
constant constexpr uint MAX_KEYS = 32;  // of a tile
// Padding of rows in threadgroup memory: with a multiple of 32 floats, all rows of an 8 x
// 8 matrix would begin in the same bank, and eight lanes would wait for one another at every load and store.
constant constexpr uint PAD = 4;
constant constexpr uint TILE = MAX_KEYS * (128 + PAD);  // floats of the keys' (then the values') tile
constant constexpr uint SCORE_ROW = MAX_KEYS + PAD;
// Rows of queries are written four at once and read eight at once: 24 banks from one to the next meet in neither.
constant constexpr uint REST_ROW = kAttentionRest + 8;

// diag(factors), the factor of row r in the lanes 4r .. 4r + 3.
static inline simdgroup_float8x8 diagonal(float factor, threadgroup float* square, uint lane) {
  for (uint e = lane; e < 64; e += 32) {
    const float mine = simd_shuffle(factor, ushort(e / 8 * 4));
    square[e] = e / 8 == e % 8 ? mine : 0.0f;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 result;
  simdgroup_load(result, square, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}

// Elements [from, from + dims) of `count` rows of a cache from `first` on, as [keys, dims + PAD] floats; rows
// beyond are zero.
template <class L>
static inline void load_tile(
    threadgroup float* tile,
    device const uchar* rows,
    uint first,
    uint count,
    uint keys,
    uint kv,
    uint from,
    uint dims,
    constant AttentionParams& p,
    uint thread_index) {
  for (uint e = thread_index; e < keys * dims; e += SIMDGROUPS * 32) {
    const uint j = e / dims;
    device const uchar* head = rows + ulong(first + min(j, count - 1)) * p.key_row_bytes + ulong(kv) * p.head_bytes;
    tile[j * (dims + PAD) + e % dims] = j < count ? L::load(head, from + e % dims) : 0.0f;
  }
}

// The work of one threadgroup. PARTS, SUMS: 8 x 8 matrices of a query and of a slice of values that a lane keeps: as
// many as the head needs, so that all stay in registers.
template <class L, uint PARTS, uint SUMS>
static inline void attend_tile(
    device const float* q,
    device const uchar* keys,
    device const uchar* values,
    device float* o,
    constant AttentionParams& p,
    threadgroup float* tile,
    threadgroup float* all_scores,
    threadgroup float* squares,
    threadgroup float* all_rest,
    uint3 group,
    uint lane,
    uint simdgroup,
    uint thread_index) {
  threadgroup float* scores = all_scores + simdgroup * ROWS * SCORE_ROW;  // [ROWS, KEYS]
  threadgroup float* square = squares + simdgroup * 64;
  threadgroup float* rest = all_rest + simdgroup * ROWS * REST_ROW;  // [ROWS, dimensions from PARTS * 8 on]
  const uint KEYS = DIM > 128 ? 16 : 32;
  const uint parts = DIM / 8, kept = min(parts, PARTS);  // 8 x 8 matrices of a query; in registers
  const uint slice = DIM > 128 ? DIM / 2 : DIM, from = group.z * slice, sums = slice / 8;  // of the values
  const uint first_head = group.x * HEADS, kv = first_head / p.group;
  const uint first_token = group.y * (SIMDGROUPS * ROWS / HEADS);
  const uint first_row = simdgroup * ROWS;  // row r: token r / HEADS, head r % HEADS of this tile

  simdgroup_float8x8 query[PARTS], sum[SUMS];
  for (uint i = 0; i < parts; i++) {
    for (uint e = lane; e < 64; e += 32) {
      const uint row = first_row + e / 8, token = first_token + row / HEADS, head = first_head + row % HEADS;
      const float element =
          token < p.tokens ? q[ulong(token) * p.q_stride + head * DIM + i * 8 + e % 8] * p.scale : 0.0f;
      if (i < PARTS) square[e] = element;
      else rest[e / 8 * REST_ROW + (i - PARTS) * 8 + e % 8] = element;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (i < PARTS) simdgroup_load(query[i], square, 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint i = 0; i < sums; i++) sum[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

  // Softmax: four lanes a row.
  const uint row = lane / 4, part = lane % 4, my_token = first_token + (first_row + row) / HEADS;
  const uint visible = my_token < p.tokens ? p.first_visible + (CAUSAL ? my_token : 0) : 0;
  const uint last_token = min(first_token + SIMDGROUPS * ROWS / HEADS, p.tokens) - 1;
  const uint end = p.first_visible + (CAUSAL ? last_token : 0);
  float largest = -INFINITY, total = 0;

  for (uint first = 0; first < end; first += KEYS) {
    const uint count = min(KEYS, end - first);
    load_tile<L>(tile, keys, first, count, KEYS, kv, 0, DIM, p, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint n = 0; n < KEYS; n += 8) {
      simdgroup_float8x8 score = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      for (uint i = 0; i < kept; i++) {
        simdgroup_float8x8 key;
        simdgroup_load(key, tile + n * (DIM + PAD) + i * 8, DIM + PAD, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(score, query[i], key, score);
      }
      for (uint i = PARTS; i < parts; i++) {
        simdgroup_float8x8 key, tail;
        simdgroup_load(key, tile + n * (DIM + PAD) + i * 8, DIM + PAD, ulong2(0, 0), true);
        simdgroup_load(tail, rest + (i - PARTS) * 8, REST_ROW);
        simdgroup_multiply_accumulate(score, tail, key, score);
      }
      simdgroup_store(score, scores + n, SCORE_ROW);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    load_tile<L>(tile, values, first, count, KEYS, kv, from, slice, p, thread_index);

    float peak = largest;
    for (uint c = part; c < KEYS; c += 4)
      if (first + c < visible) peak = max(peak, scores[row * SCORE_ROW + c]);
    peak = max(peak, simd_shuffle_xor(peak, 1));
    peak = max(peak, simd_shuffle_xor(peak, 2));
    const float rescale = largest == -INFINITY ? 0.0f : exp(largest - peak);
    float added = 0;
    for (uint c = part; c < KEYS; c += 4) {
      const float weight = first + c < visible ? exp(scores[row * SCORE_ROW + c] - peak) : 0.0f;
      scores[row * SCORE_ROW + c] = weight;
      added += weight;
    }
    added += simd_shuffle_xor(added, 1);
    added += simd_shuffle_xor(added, 2);
    total = total * rescale + added;
    if (simd_any(peak != largest)) {
      const simdgroup_float8x8 factors = diagonal(rescale, square, lane);
      for (uint i = 0; i < sums; i++) simdgroup_multiply(sum[i], factors, sum[i]);
    }
    largest = peak;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint n = 0; n < KEYS; n += 8) {
      simdgroup_float8x8 weight;
      simdgroup_load(weight, scores + n, SCORE_ROW);
      for (uint i = 0; i < sums; i++) {
        simdgroup_float8x8 value;
        simdgroup_load(value, tile + n * (slice + PAD) + i * 8, slice + PAD);
        simdgroup_multiply_accumulate(sum[i], weight, value, sum[i]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  const simdgroup_float8x8 shares = diagonal(total > 0 ? 1.0f / total : 0.0f, square, lane);
  for (uint i = 0; i < sums; i++) {
    simdgroup_multiply(sum[i], shares, sum[i]);
    simdgroup_store(sum[i], square, 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = lane; e < 64; e += 32) {
      const uint r = first_row + e / 8, token = first_token + r / HEADS, head = first_head + r % HEADS;
      if (token < p.tokens) o[ulong(token) * p.o_stride + head * DIM + from + i * 8 + e % 8] = square[e];
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template <class L>
[[max_total_threads_per_threadgroup(128)]] [[kernel]] void attention_tile(
    device const float* q [[buffer(0)]],  // [tokens, query * dim]
    device const uchar* keys [[buffer(1)]],
    device const uchar* values [[buffer(2)]],
    device float* o [[buffer(3)]],  // [tokens, query * dim]
    constant AttentionParams& p [[buffer(4)]],
    threadgroup float* rest [[threadgroup(0)]],  // [SIMDGROUPS * ROWS, REST_ROW] for heads above 208
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup float tile[TILE];
  threadgroup float all_scores[SIMDGROUPS * ROWS * SCORE_ROW];
  threadgroup float squares[SIMDGROUPS * 64];
#define ATTEND_TILE(parts, sums) \
  attend_tile<L, parts, sums>(   \
      q, keys, values, o, p, tile, all_scores, squares, rest, group, lane, simdgroup, thread_index)
  if (DIM <= 64) ATTEND_TILE(8, 8);
  else if (DIM <= 128) ATTEND_TILE(16, 16);
  else ATTEND_TILE((256 - kAttentionRest) / 8, 16);
}
INSTANTIATE(attention_tile)
