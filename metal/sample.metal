// Samples on the GPU, so that the next pass can run before the CPU has seen the token (native/ops/sampling.h is the
// specification and decides: a pass that was fed a different token is taken back). Two dispatches:
// penalties and the peak of each tile of 256 tokens; then one threadgroup that orders what lies near the peak.
//
// Only tokens within a few nats of the peak are ordered: the largest of three distances at which they fit. Top-k, top-p
// and min-p look no further; without a filter the tail that is left out holds a percent or two of the weight.
#include "params.h"
#include "shared/reduce.h"

constant bool GREEDY [[function_constant(22)]];

constant constexpr uint TILE = kSampleTile;
constant constexpr uint CANDIDATES = kSampleCandidates;
constant constexpr uint NOBODY = 0xffffffffu;

struct Scored {
  float score;
  uint id;
};
static inline bool before(float a, uint a_id, float b, uint b_id) { return a != b ? a > b : a_id < b_id; }
// The best of a simdgroup, in every lane.
static inline Scored best_of(float score, uint id) {
  const float peak = simd_max(score);
  return {peak, simd_min(score == peak ? id : NOBODY)};
}

// Place of `id` in a list of word pairs ascending by id; `length` when it is not there.
static inline uint find(device const int* list, uint length, int id) {
  uint low = 0, high = length;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (list[2 * middle] < id) low = middle + 1;
    else high = middle;
  }
  return low < length && list[2 * low] == id ? low : length;
}

kernel void sample_scores(
    device const float* logits [[buffer(0)]],
    device const int* counts [[buffer(1)]],   // [counts, id | times]
    device const int* biases [[buffer(2)]],   // [biases, id | bits of a float]
    device const int* guessed [[buffer(3)]],  // the token of the pass before
    device float* scores [[buffer(4)]],       // [vocabulary]
    device float* peaks [[buffer(5)]],        // [tiles]
    device uint* peak_ids [[buffer(6)]],      // [tiles]
    constant SampleParams& p [[buffer(7)]],
    uint tile [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float best[TILE / 32];
  threadgroup uint best_id[TILE / 32];
  const uint id = tile * TILE + thread_index;
  float score = -INFINITY;
  if (id < p.vocabulary) {
    score = logits[id];
    if (isnan(score)) score = -INFINITY;
    const uint at = find(counts, p.counts, int(id));
    int times = at < p.counts ? counts[2 * at + 1] : 0;
    if (p.after_guess != 0 && uint(guessed[0]) == id) times++;
    if (times > 0) {
      score = score > 0 ? score / p.repetition : score * p.repetition;
      score -= p.presence + float(times) * p.frequency;
    }
    const uint biased = find(biases, p.biases, int(id));
    if (biased < p.biases) score += as_type<float>(biases[2 * biased + 1]);
    scores[id] = score;
  }
  const Scored mine = best_of(score, id);
  if (lane == 0) {
    best[simdgroup] = mine.score;
    best_id[simdgroup] = mine.id;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup != 0) return;
  const Scored all = best_of(lane < TILE / 32 ? best[lane] : -INFINITY, lane < TILE / 32 ? best_id[lane] : NOBODY);
  if (lane == 0) {
    peaks[tile] = all.score;
    peak_ids[tile] = all.id;
  }
}

// Orders `score`, `id` by (score descending, id ascending), or by id alone. Every thread owns one place.
static inline void sort(threadgroup float* score, threadgroup uint* id, uint i, bool by_id) {
  for (uint size = 2; size <= CANDIDATES; size *= 2)
    for (uint step = size / 2; step > 0; step /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint other = i ^ step;
      if (other > i) {
        const bool right = by_id ? id[i] < id[other] : before(score[i], id[i], score[other], id[other]);
        if (right == ((i & size) != 0)) {
          const float s = score[i];
          const uint n = id[i];
          score[i] = score[other];
          id[i] = id[other];
          score[other] = s;
          id[other] = n;
        }
      }
    }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Sum of all values up to and including this thread's; `total` receives the sum of all.
static inline float running_sum(float value, threadgroup float* sums, uint lane, uint simdgroup, thread float& total) {
  const float within = simd_prefix_inclusive_sum(value);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 31) sums[simdgroup] = within;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float group = sums[lane];
  const float upto = simd_prefix_inclusive_sum(group);
  total = simd_shuffle(upto, 31);
  return within + simd_shuffle(upto, ushort(simdgroup)) - sums[simdgroup];
}

[[max_total_threads_per_threadgroup(1024)]] kernel void sample_pick(
    device const float* scores [[buffer(0)]],
    device const float* peaks [[buffer(1)]],
    device const uint* peak_ids [[buffer(2)]],
    device int* chosen [[buffer(3)]],
    constant SampleParams& p [[buffer(4)]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float score[CANDIDATES];
  threadgroup uint id[CANDIDATES];
  threadgroup float sums[32];
  threadgroup uint ids[32];
  threadgroup atomic_uint found;
  threadgroup atomic_uint remaining;
  threadgroup atomic_uint winner;
  const uint tiles = (p.vocabulary + TILE - 1) / TILE;

  Scored mine = {-INFINITY, NOBODY};
  for (uint t = thread_index; t < tiles; t += CANDIDATES)
    if (before(peaks[t], peak_ids[t], mine.score, mine.id)) mine = {peaks[t], peak_ids[t]};
  mine = best_of(mine.score, mine.id);
  if (lane == 0) {
    sums[simdgroup] = mine.score;
    ids[simdgroup] = mine.id;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const Scored peak = best_of(sums[lane], ids[lane]);
  if (GREEDY || peak.score == -INFINITY) {
    if (thread_index == 0) chosen[0] = int(peak.id == NOBODY ? 0 : peak.id);
    return;
  }

  uint count = 0;
  for (uint attempt = 0; attempt < 3; attempt++) {
    const float reach = (attempt == 0 ? 12.0f : attempt == 1 ? 6.0f : 3.0f) * p.temperature;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index == 0) atomic_store_explicit(&found, 0, memory_order_relaxed);
    score[thread_index] = -INFINITY;
    id[thread_index] = NOBODY;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint t = simdgroup; t < tiles; t += CANDIDATES / 32) {
      if (peaks[t] < peak.score - reach) continue;
      for (uint i = t * TILE + lane; i < min((t + 1) * TILE, p.vocabulary); i += 32) {
        const float value = scores[i];
        if (value < peak.score - reach) continue;
        const uint at = atomic_fetch_add_explicit(&found, 1, memory_order_relaxed);
        if (at >= CANDIDATES) continue;
        score[at] = value;
        id[at] = i;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    count = atomic_load_explicit(&found, memory_order_relaxed);
    if (count <= CANDIDATES) break;
  }
  if (count > CANDIDATES) {  // nearly flat: any token is as good
    if (thread_index == 0) chosen[0] = int(peak.id);
    return;
  }

  sort(score, id, thread_index, false);
  const float scaled = peak.score / p.temperature;
  float weight = thread_index < count ? exp(score[thread_index] / p.temperature - scaled) : 0.0f;
  if (p.top_k != 0 && thread_index >= p.top_k) weight = 0;
  float total;
  const float upto = running_sum(weight, sums, lane, simdgroup, total);
  if (p.top_p < 1 && thread_index != 0 && upto - weight >= p.top_p * total) weight = 0;
  if (p.min_p > 0 && weight < p.min_p) weight = 0;
  if (thread_index == 0) {
    atomic_store_explicit(&remaining, 0, memory_order_relaxed);
    atomic_store_explicit(&winner, CANDIDATES, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  score[thread_index] = weight;
  if (weight == 0) id[thread_index] = NOBODY;
  else atomic_fetch_add_explicit(&remaining, 1, memory_order_relaxed);

  sort(score, id, thread_index, true);
  const float here = running_sum(score[thread_index], sums, lane, simdgroup, total);
  const uint last = atomic_load_explicit(&remaining, memory_order_relaxed) - 1;
  if (thread_index < last && here > p.random * total)
    atomic_fetch_min_explicit(&winner, thread_index, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (thread_index == 0) chosen[0] = int(id[min(atomic_load_explicit(&winner, memory_order_relaxed), last)]);
}
