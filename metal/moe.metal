// Routing (model-specs 6.3, 10.3): probabilities of all experts, the best k, their weights. One simdgroup a token. The
// next best is the best among those that come after the last one in the order (score descending, id ascending): no list
// of what was taken.
#include "params.h"
#include "reduce.h"

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
