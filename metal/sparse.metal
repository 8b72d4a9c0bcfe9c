// InfLLM-v2 (arXiv 2509.24663): mean-pooled keys choose, for every query token and key/value head, the blocks of the
// cache its group of query heads attends to. The attention over chosen blocks is attention.metal.
#include "params.h"
#include "shared/cache.h"
#include "shared/instantiate.h"

// New mean keys: window i covers keys [i * stride, i * stride + size). One thread an element of a head.
template <class L>
[[kernel]] void block_compress(
    device const uchar* keys [[buffer(0)]],
    device float* means [[buffer(1)]],  // [windows, heads * dim]
    constant CompressParams& p [[buffer(2)]],
    uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.heads * p.dim) return;
  const uint window = p.first + at.y, head = at.x / p.dim, d = at.x % p.dim;
  float sum = 0;
  for (uint j = window * p.stride; j < window * p.stride + p.kernel_size; j++)
    sum += L::load(keys + ulong(j) * p.row_bytes + ulong(head) * p.head_bytes, d);
  means[ulong(window) * p.heads * p.dim + at.x] = sum / float(p.kernel_size);
}
INSTANTIATE(block_compress)

constant constexpr uint SIMDGROUPS = 4;

static inline float score_of(device const float* q, device const float* k, uint dim, float scale, uint lane) {
  float sum = 0;
  for (uint d = lane; d < dim; d += 32) sum += q[d] * k[d];
  return scale * simd_sum(sum);
}
static inline uint windows(uint keys, uint size, uint stride) { return keys < size ? 0 : (keys - size) / stride + 1; }
// b before a in the order (score descending, block ascending).
static inline bool better(float score_b, uint b, float score_a, uint a) {
  return score_b > score_a || (score_b == score_a && b < a);
}

// One threadgroup a (token, key/value head). Window scores and block scores go through scratch rows of device memory:
// their number grows with the context.
kernel void block_select(
    device const float* q [[buffer(0)]],   // [tokens, query * dim]
    device const float* k1 [[buffer(1)]],  // [windows, kv * dim]
    device const float* k2 [[buffer(2)]],
    device float* window_scores [[buffer(3)]],  // [tokens * kv, scores_stride]
    device float* block_scores [[buffer(4)]],   // [tokens * kv, blocks_stride]
    device int* ranks [[buffer(5)]],            // [tokens * kv, blocks_stride]
    device int* list [[buffer(6)]],             // [tokens * kv, topk]
    constant SelectParams& p [[buffer(7)]],
    uint row [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float peaks[SIMDGROUPS], totals[SIMDGROUPS];
  const uint token = row / p.kv, head = row % p.kv, group = p.query / p.kv, position = p.first_position + token;
  const uint seen1 = min(windows(position + 1, p.kernel_size, p.stride), p.k1_length);
  const uint seen2 = min(windows(position + 1, 4 * p.kernel_size, 4 * p.stride), p.k2_length);
  device float* scores = window_scores + ulong(row) * p.scores_stride;
  for (uint j = simdgroup; j < seen1; j += SIMDGROUPS)
    if (lane == 0) scores[j] = 0;

  // Steps a to c: p_j = sum over the group's heads of exp(score on K1 - log sum exp of scores on K2).
  for (uint g = 0; g < group && seen2 > 0; g++) {
    device const float* query = q + ulong(token) * p.q_stride + (head * group + g) * p.dim;
    float peak = -INFINITY, total = 0;
    for (uint j = simdgroup; j < seen2; j += SIMDGROUPS) {
      const float score = score_of(query, k2 + (ulong(j) * p.kv + head) * p.dim, p.dim, p.scale, lane);
      const float higher = max(peak, score);
      total = total * exp(peak - higher) + exp(score - higher);
      peak = higher;
    }
    if (lane == 0) {
      peaks[simdgroup] = peak;
      totals[simdgroup] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float highest = -INFINITY, all = 0;
    for (uint s = 0; s < SIMDGROUPS; s++) highest = max(highest, peaks[s]);
    for (uint s = 0; s < SIMDGROUPS; s++) all += peaks[s] == -INFINITY ? 0.0f : totals[s] * exp(peaks[s] - highest);
    const float normaliser = highest + log(all);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = simdgroup; j < seen1; j += SIMDGROUPS) {
      const float score = score_of(query, k1 + (ulong(j) * p.kv + head) * p.dim, p.dim, p.scale, lane);
      if (lane == 0) scores[j] += exp(score - normaliser);
    }
  }
  threadgroup_barrier(mem_flags::mem_device);

  // Steps d and e: a block's score is the best of the windows that touch it; the first and the local blocks are forced.
  const uint own = position / p.block, blocks = own + 1, ratio = p.block / p.stride;
  device float* pooled = block_scores + ulong(row) * p.blocks_stride;
  device int* rank = ranks + ulong(row) * p.blocks_stride;
  for (uint b = thread_index; b < blocks; b += threads) {
    const bool forced = b < p.init_blocks || b + p.local_blocks >= own;
    float best = forced ? INFINITY : -INFINITY;
    const uint first = ratio * b == 0 ? 0 : ratio * b - 1;
    for (uint j = first; !forced && j < min(ratio * (b + 1), seen1); j++) best = max(best, scores[j]);
    pooled[b] = best;
  }
  threadgroup_barrier(mem_flags::mem_device);

  // Step f: the topk best, ascending. A block is chosen when fewer than topk come before it; its place in the list is
  // the number of chosen blocks below it.
  for (uint b = thread_index; b < blocks; b += threads) {
    uint before = 0;
    for (uint other = 0; other < blocks; other++) before += better(pooled[other], other, pooled[b], b) ? 1 : 0;
    rank[b] = before < p.topk ? 1 : 0;
  }
  threadgroup_barrier(mem_flags::mem_device);
  device int* chosen = list + ulong(row) * p.topk;
  for (uint b = thread_index; b < blocks; b += threads) {
    if (rank[b] == 0) continue;
    uint place = 0;
    for (uint other = 0; other < b; other++) place += uint(rank[other]);
    chosen[place] = int(b);
  }
  for (uint i = min(blocks, p.topk) + thread_index; i < p.topk; i += threads) chosen[i] = -1;
}
