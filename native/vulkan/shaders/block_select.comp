#version 450
// InfLLM-v2 (arXiv 2509.24663): mean-pooled keys choose, for every query token and key/value head, the blocks of the
// cache its group of query heads attends to. The attention over chosen blocks is attention.comp. One workgroup a (token,
// key/value head). Window scores and block scores go through rows of device memory: their number grows with the context.
// Where compressed keys do not fit into a binding, the steps are dispatches of their own, over windows of keys.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"
#include "shared.h"

layout(constant_id = 39) const uint STEPS = kSelectAll;
const bool NORMALISES = (STEPS & kSelectNormalise) != 0;
const bool SCORES = (STEPS & kSelectScore) != 0;
const bool CHOOSES = (STEPS & kSelectChoose) != 0;

layout(binding = 0) readonly buffer Q { float q[]; };    // [tokens, query * dim]
layout(binding = 1) readonly buffer K1 { float k1[]; };  // [windows, kv * dim]
layout(binding = 2) readonly buffer K2 { float k2[]; };
layout(binding = 3) coherent buffer WindowScores { float window_scores[]; };  // [tokens * kv, scores_stride]
layout(binding = 4) coherent buffer BlockScores { float block_scores[]; };    // [tokens * kv, blocks_stride]
layout(binding = 5) coherent buffer Ranks { uint ranks[]; };                  // [tokens * kv, blocks_stride]
layout(binding = 6) buffer Normalisers { vec2 normalisers[]; };               // [tokens, query]: peak, total above it
layout(binding = 7) writeonly buffer List { int list[]; };                    // [tokens * kv, topk]
layout(push_constant, std430) uniform Push { uint base[8]; SelectWindowParams w; };

void device_barrier() {
  memoryBarrierBuffer();
  barrier();
}
float coarse_score(uint query, uint j, uint head) {
  float sum = 0.0;
  for (uint d = gl_SubgroupInvocationID; d < w.all.dim; d += gl_SubgroupSize)
    sum += q[query + d] * k2[base[2] + ((j - w.first2) * w.all.kv + head) * w.all.dim + d];
  return w.all.scale * subgroupAdd(sum);
}
float fine_score(uint query, uint j, uint head) {
  float sum = 0.0;
  for (uint d = gl_SubgroupInvocationID; d < w.all.dim; d += gl_SubgroupSize)
    sum += q[query + d] * k1[base[1] + ((j - w.first1) * w.all.kv + head) * w.all.dim + d];
  return w.all.scale * subgroupAdd(sum);
}
uint windows(uint keys, uint size, uint stride) { return keys < size ? 0 : (keys - size) / stride + 1; }
// b before a in the order (score descending, block ascending).
bool better(float score_b, uint b, float score_a, uint a) { return score_b > score_a || (score_b == score_a && b < a); }

// Log of the sum of exponentials of a query's scores on the K2 it sees; in windows, each adds to what `at` has.
float normaliser_of(uint query, uint head, uint seen, uint at) {
  if (!NORMALISES) return normalisers[at].x + logarithm(normalisers[at].y);
  float peak = LOWEST, total = 0.0;  // of this subgroup, the same in all its lanes
  for (uint j = w.first2 + gl_SubgroupID; j < min(seen, w.end2); j += gl_NumSubgroups) {
    const float score = coarse_score(query, j, head), higher = max(peak, score);
    total = total * exponential(peak - higher) + exponential(score - higher);
    peak = higher;
  }
  float highest = group_max(peak);
  const float share = subgroupElect() ? total * exponential(peak - highest) : 0.0;
  float sum = group_sum(share);
  if (SCORES) return highest + logarithm(sum);
  if (gl_LocalInvocationID.x == 0) {
    const vec2 before = w.first2 == 0 ? vec2(LOWEST, 0.0) : normalisers[at];
    const float most = max(before.x, highest);
    normalisers[at] = vec2(most, before.y * exponential(before.x - most) + sum * exponential(highest - most));
  }
  return 0.0;
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, row = gl_WorkGroupID.x;
  const uint token = row / w.all.kv, head = row % w.all.kv, group = w.all.query / w.all.kv;
  const uint position = w.all.first_position + token;
  const uint seen1 = min(windows(position + 1, w.all.kernel_size, w.all.stride), w.all.k1_length);
  const uint seen2 = min(windows(position + 1, 4 * w.all.kernel_size, 4 * w.all.stride), w.all.k2_length);
  const uint scores = base[3] + row * w.all.scores_stride;
  if (SCORES)
    for (uint j = w.first1 + gl_SubgroupID; j < min(seen1, w.end1); j += gl_NumSubgroups)
      if (subgroupElect()) window_scores[scores + j] = 0.0;

  // Steps a to c: p_j = sum over the group's heads of exp(score on K1 - log sum exp of scores on K2).
  for (uint g = 0; (NORMALISES || SCORES) && g < group && seen2 > 0; g++) {
    const uint query = base[0] + token * w.all.q_stride + (head * group + g) * w.all.dim;
    const float normaliser = normaliser_of(query, head, seen2, base[6] / 2 + token * w.all.query + head * group + g);
    if (!SCORES) continue;
    for (uint j = w.first1 + gl_SubgroupID; j < min(seen1, w.end1); j += gl_NumSubgroups) {
      const float score = fine_score(query, j, head);
      if (subgroupElect()) window_scores[scores + j] += exponential(score - normaliser);
    }
  }
  if (!CHOOSES) return;
  device_barrier();

  // Steps d and e: a block's score is the best of the windows that touch it; the first and the local blocks are forced.
  const uint own = position / w.all.block, blocks = own + 1, ratio = w.all.block / w.all.stride;
  const uint pooled = base[4] + row * w.all.blocks_stride, rank = base[5] + row * w.all.blocks_stride;
  for (uint b = thread; b < blocks; b += threads) {
    const bool forced = b < w.all.init_blocks || b + w.all.local_blocks >= own;
    float best = forced ? -LOWEST : LOWEST;
    const uint first = ratio * b == 0 ? 0 : ratio * b - 1;
    for (uint j = first; !forced && j < min(ratio * (b + 1), seen1); j++) best = max(best, window_scores[scores + j]);
    block_scores[pooled + b] = best;
  }
  device_barrier();

  // Step f: the topk best, ascending. A block is chosen when fewer than topk come before it; its place in the list is
  // the number of chosen blocks below it.
  for (uint b = thread; b < blocks; b += threads) {
    uint before = 0;
    for (uint other = 0; other < blocks; other++)
      before += better(block_scores[pooled + other], other, block_scores[pooled + b], b) ? 1 : 0;
    ranks[rank + b] = before < w.all.topk ? 1 : 0;
  }
  device_barrier();
  const uint chosen = base[7] + row * w.all.topk;
  for (uint b = thread; b < blocks; b += threads) {
    if (ranks[rank + b] == 0) continue;
    uint place = 0;
    for (uint other = 0; other < b; other++) place += ranks[rank + other];
    list[chosen + place] = int(b);
  }
  for (uint i = min(blocks, w.all.topk) + thread; i < w.all.topk; i += threads) list[chosen + i] = -1;
}
