// Routing (modeling_qwen3_5_moe.py, modeling_lfm2.py): probabilities of all experts, the best k, their weights. One
// simdgroup a token. The next best is the best among those after the last one in the order (score descending, id
// ascending), so no list of chosen experts is needed.
#include "params.h"
#include "shared/reduce.h"

constant bool SIGMOID [[function_constant(20)]];
constant bool HAS_BIAS [[function_constant(3)]];

kernel void route(
    device const float* logits [[buffer(0)]],  // [tokens, experts]
    device const float* bias [[buffer(1)]],    // [experts]: moves the choice, not the weight
    device int* ids [[buffer(2)]],             // [tokens, topk]
    device float* weights [[buffer(3)]],       // [tokens, topk]
    constant RouteParams& p [[buffer(4)]],
    uint token [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  logits += ulong(token) * p.logits_stride;
  ids += ulong(token) * p.topk;
  weights += ulong(token) * p.topk;
  float peak = -INFINITY, total = 0;
  if (!SIGMOID) {
    for (uint e = lane; e < p.experts; e += 32) peak = max(peak, logits[e]);
    peak = simd_max(peak);
    for (uint e = lane; e < p.experts; e += 32) total += exp(logits[e] - peak);
    total = simd_sum(total);
  }
  float last = INFINITY, sum = 0;
  int last_id = -1;
  for (uint i = 0; i < p.topk; i++) {
    float best = -INFINITY, probability = 0;
    int best_id = int(p.experts);
    for (uint e = lane; e < p.experts; e += 32) {
      const float chance = SIGMOID ? sigmoid(logits[e]) : exp(logits[e] - peak) / total;
      const float score = HAS_BIAS ? chance + bias[e] : chance;
      const bool left = score < last || (score == last && int(e) > last_id);
      if (left && (score > best || best_id == int(p.experts))) {
        best = score;
        best_id = int(e);
        probability = chance;
      }
    }
    const float winner = simd_max(best_id == int(p.experts) ? -INFINITY : best);
    const int id = simd_min(best == winner ? best_id : int(p.experts));
    const float chance = simd_sum(best_id == id ? probability : 0.0f);
    sum += chance;
    last = winner;
    last_id = id;
    if (lane == 0) {
      ids[i] = id;
      weights[i] = chance;
    }
  }
  if (lane != 0) return;
  const float factor = p.scale / (p.renormalise != 0 ? sum + p.renormalise_eps : 1.0f);
  for (uint i = 0; i < p.topk; i++) weights[i] *= factor;
}

// Prefill: the slots (token, choice) of each expert beside one another, ascending, and tiles of up to 32 of them, so
// that the tiled matmul reads an expert's rows once a tile (matmul.metal). A thread owns whole experts: no atomics, the
// same order every time. One threadgroup; unused entries of `tiles` are empty.
kernel void group_by_expert(
    device const int* ids [[buffer(0)]],  // [slots]
    device int* order [[buffer(1)]],      // [slots]
    device ExpertTile* tiles [[buffer(2)]],
    constant GroupParams& p [[buffer(3)]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]]) {
  threadgroup uint counts[kMostGroupedExperts];
  threadgroup uint firsts[kMostGroupedExperts];
  for (uint e = thread_index; e < p.experts; e += threads) {
    uint count = 0;
    for (uint s = 0; s < p.slots; s++) count += ids[s] == int(e) ? 1 : 0;
    counts[e] = count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (thread_index == 0) {
    uint first = 0, tile = 0;
    for (uint e = 0; e < p.experts; e++) {
      firsts[e] = first;
      for (uint done = 0; done < counts[e]; done += p.tile) {
        tiles[tile].expert = e;
        tiles[tile].first = first + done;
        tiles[tile++].count = min(p.tile, counts[e] - done);
      }
      first += counts[e];
    }
    for (; tile < p.tiles; tile++) tiles[tile].first = tiles[tile].count = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = thread_index; e < p.experts; e += threads) {
    uint at = firsts[e];
    for (uint s = 0; s < p.slots && counts[e] != 0; s++)
      if (ids[s] == int(e)) order[at++] = int(s);
  }
}

// y[token] += sum_i weight_i * h[token * topk + i], in the order of the choices.
kernel void combine_experts(
    device const float* h [[buffer(0)]],        // [tokens * topk, cols]
    device const float* weights [[buffer(1)]],  // [tokens, topk]
    device float* y [[buffer(2)]],
    constant CombineParams& p [[buffer(3)]],
    uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.cols || at.y >= p.tokens) return;
  float sum = 0;
  for (uint i = 0; i < p.topk; i++)
    sum += weights[ulong(at.y) * p.weight_stride + i] * h[(ulong(at.y) * p.topk + i) * p.h_stride + at.x];
  y[ulong(at.y) * p.y_stride + at.x] += sum;
}
