#version 450
// Routing (modeling_qwen3_5_moe.py, modeling_lfm2.py): probabilities of all experts, the best k, their weights. One
// workgroup a token. The next best is the best among those after the last one in the order (score descending, id
// ascending), so no list of chosen experts is needed.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(constant_id = 20) const bool SIGMOID = false;
layout(constant_id = 3) const bool HAS_BIAS = false;

layout(binding = 0) readonly buffer Logits { float logits[]; };  // [tokens, experts]
layout(binding = 1) readonly buffer Bias { float bias[]; };      // [experts]: moves the choice, not the weight
layout(binding = 2) writeonly buffer Ids { int ids[]; };         // [tokens, topk]
layout(binding = 3) buffer Chances { float chances[]; };         // [tokens, topk]
ARGUMENTS(4, RouteParams);

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, token = gl_WorkGroupID.x;
  const uint row = base[0] + token * p.logits_stride, to = token * p.topk;
  float peak = LOWEST, total = 1.0;
  if (!SIGMOID) {
    for (uint e = thread; e < p.experts; e += threads) peak = max(peak, logits[row + e]);
    peak = group_max(peak);
    float sum = 0.0;
    for (uint e = thread; e < p.experts; e += threads) sum += exponential(logits[row + e] - peak);
    total = group_sum(sum);
  }
  float last = -LOWEST, sum = 0.0;
  int last_id = -1;
  const int none = int(p.experts);
  for (uint i = 0; i < p.topk; i++) {
    float best = LOWEST, probability = 0.0;
    int best_id = none;
    for (uint e = thread; e < p.experts; e += threads) {
      const float chance = SIGMOID ? sigmoid(logits[row + e]) : exponential(logits[row + e] - peak) / total;
      const float score = HAS_BIAS ? chance + bias[base[1] + e] : chance;
      const bool left = score < last || (score == last && int(e) > last_id);
      if (left && (score > best || best_id == none)) {
        best = score;
        best_id = int(e);
        probability = chance;
      }
    }
    const float winner = group_max(best);
    const int id = int(-group_max(best == winner ? -float(best_id) : -float(none)));  // the lowest id
    const float chance = group_sum(best_id == id ? probability : 0.0);
    sum += chance;
    last = winner;
    last_id = id;
    if (thread == 0) {
      ids[base[2] + to + i] = id;
      chances[base[3] + to + i] = chance;
    }
  }
  if (thread != 0) return;
  const float factor = p.scale / (p.renormalise != 0 ? sum + p.renormalise_eps : 1.0);
  for (uint i = 0; i < p.topk; i++) chances[base[3] + to + i] *= factor;
}
