// Online softmax of up to ROWS query rows over tiles of keys, by one workgroup. A subgroup takes a key's products, a
// subgroup takes a row's softmax, a thread takes a dimension of the weighted values. A row's own arithmetic does not depend
// on who shares the tile.
#ifndef ATTENTION
#define ATTENTION

#include "cache.glsl"

const uint ROWS = 4;
const uint TILE = 64;
const uint ABSENT = 0xffffffffu;

shared float scores[ROWS * TILE];  // then weights
shared uint key_at[TILE];          // row of the binding, or ABSENT
shared float rescales[ROWS], peaks[ROWS], totals[ROWS];

void begin_rows() {
  const uint thread = gl_LocalInvocationID.x;
  if (thread < ROWS) {
    peaks[thread] = LOWEST;
    totals[thread] = 0.0;
  }
}

// Scores of `count` keys become weights relative to the new peak. Between two barriers.
void weigh(uint rows, uint count) {
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  for (uint r = gl_SubgroupID; r < rows; r += gl_NumSubgroups) {
    const float before = peaks[r], total = totals[r];
    float most = LOWEST;
    for (uint j = lane; j < count; j += lanes) most = max(most, scores[r * TILE + j]);
    const float peak = max(before, subgroupMax(most));
    float sum = 0.0;
    for (uint j = lane; j < count; j += lanes) {
      const float score = scores[r * TILE + j];
      const float weight = score == LOWEST ? 0.0 : exponential(score - peak);
      scores[r * TILE + j] = weight;
      sum += weight;
    }
    sum = subgroupAdd(sum);
    subgroupBarrier();
    if (subgroupElect()) {
      rescales[r] = before == LOWEST ? 0.0 : exponential(before - peak);
      peaks[r] = peak;
      totals[r] = total * rescales[r] + sum;
    }
  }
}

#endif
