#version 450
// Softmax attention over the rows of a cache (decode, prefill, the encoder, and the chosen blocks of sparse attention).
// Query rows share what is read of a key and a value: heads of one group first, then neighbouring tokens. A causal row
// stops at its own key: nothing above the diagonal counts. Long contexts are split over workgroups, and
// attention_combine merges their parts.
#extension GL_GOOGLE_include_directive : require
#include "attention.glsl"

layout(constant_id = 10) const uint DIM = 64;
layout(constant_id = 11) const bool CAUSAL = false;
layout(constant_id = 12) const bool SPARSE = false;
layout(constant_id = 0) const uint TOKENS = 1;  // neighbouring tokens a workgroup
layout(constant_id = 21) const uint HEADS = 1;  // query heads of one group a workgroup

layout(binding = 0) readonly buffer Q { float q[]; };         // [tokens, query * dim]
layout(binding = 1) readonly buffer Keys { uint keys[]; };
layout(binding = 2) readonly buffer Values { uint values[]; };
layout(binding = 3) readonly buffer Blocks { int blocks[]; };  // [tokens * kv, topk], ascending, -1 where fewer
layout(binding = 4) writeonly buffer O { float o[]; };  // [tokens, query * dim]; split: [split, tokens, query, dim + 2]
layout(push_constant, std430) uniform Push { uint base[5]; AttentionWindowParams w; };

CACHE_READER(key, keys)
CACHE_READER(value, values)

const uint FOUR = 4;
const uint DIMS = (DIM + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;  // of a thread
shared float query[ROWS * DIM];

uint visible(uint r, uint first_token) {
  const uint token = first_token + r / HEADS;
  return token < w.all.tokens ? w.all.first_visible + (CAUSAL ? token : 0) : 0;
}

// The key at position j of this workgroup's walk.
uint walked(uint j, uint list, uint last) {
  if (!SPARSE) return j;
  const int block = blocks[base[3] + list + j / w.all.block];
  const uint at = uint(block) * w.all.block + j % w.all.block;
  return block < 0 || at >= min(last, w.end_key) || at < w.first_key ? ABSENT : at;
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint first_token = gl_WorkGroupID.y * TOKENS, first_head = gl_WorkGroupID.x * HEADS;
  const uint kv = first_head / w.all.group, rows = HEADS * TOKENS;
  uint last = 0;
  for (uint r = 0; r < rows; r++) last = max(last, visible(r, first_token));
  for (uint e = thread; e < rows * DIM; e += threads) {
    const uint r = e / DIM, token = first_token + r / HEADS, h = first_head + r % HEADS;
    query[e] = token < w.all.tokens ? q[base[0] + token * w.all.q_stride + h * DIM + e % DIM] * w.all.scale : 0.0;
  }
  begin_rows();
  float sums[ROWS][DIMS];
  for (uint r = 0; r < rows; r++)
    for (uint i = 0; i < DIMS; i++) sums[r][i] = 0.0;

  const uint list = (first_token * (w.all.query / w.all.group) + kv) * w.all.topk;
  const uint split = w.first_split + gl_WorkGroupID.z;
  const uint first = SPARSE ? 0 : split * w.all.split_keys;
  const uint end = SPARSE ? w.all.topk * w.all.block : min(min(last, w.end_key), first + w.all.split_keys);
  for (uint start = first; start < end; start += TILE) {
    const uint count = min(TILE, end - start);
    barrier();
    // Keys in fours, so that their elements are on the way together.
    for (uint j = gl_SubgroupID * FOUR; j < count; j += gl_NumSubgroups * FOUR) {
      uint at[FOUR], heads[FOUR];
      float products[FOUR][ROWS];
      for (uint n = 0; n < FOUR; n++) {
        at[n] = j + n < count ? walked(start + j + n, list, last) : ABSENT;
        heads[n] = at[n] == ABSENT ? 0 : base[1] * 4 + (at[n] - w.first_key) * w.all.key_row_bytes + kv * w.all.head_bytes;
        for (uint r = 0; r < rows; r++) products[n][r] = 0.0;
      }
      for (uint d = lane; d < DIM; d += lanes) {
        float elements[FOUR];
        for (uint n = 0; n < FOUR; n++) elements[n] = at[n] == ABSENT ? 0.0 : key(heads[n], d);
        for (uint r = 0; r < rows; r++)
          for (uint n = 0; n < FOUR; n++) products[n][r] += query[r * DIM + d] * elements[n];
      }
      for (uint n = 0; n < FOUR; n++) {
        for (uint r = 0; r < rows; r++) {
          const float score = subgroupAdd(products[n][r]);
          if (lane == 0 && j + n < count)
            scores[r * TILE + j + n] = at[n] != ABSENT && at[n] < visible(r, first_token) ? score : LOWEST;
        }
        if (SPARSE && lane == 0 && j + n < count) key_at[j + n] = at[n] == ABSENT ? ABSENT : at[n] - w.first_key;
      }
    }
    barrier();
    weigh(rows, count);
    barrier();
    for (uint i = 0; i < DIMS; i++) {
      const uint d = i * threads + thread;
      if (d >= DIM) break;
      for (uint r = 0; r < rows; r++) sums[r][i] *= rescales[r];
      for (uint j = 0; j < count; j++) {
        const uint at = SPARSE ? key_at[j] : start + j - w.first_key;
        if (at == ABSENT) continue;
        const float element = value(base[2] * 4 + at * w.all.key_row_bytes + kv * w.all.head_bytes, d);
        for (uint r = 0; r < rows; r++) sums[r][i] += scores[r * TILE + j] * element;
      }
    }
  }
  barrier();
  const bool parts = w.all.splits > 1;
  for (uint r = 0; r < rows; r++) {
    const uint token = first_token + r / HEADS, h = first_head + r % HEADS;
    if (token >= w.all.tokens) continue;
    const uint part = ((split * w.all.tokens + token) * w.all.query + h) * (DIM + 2);
    const uint to = base[4] + (parts ? part : token * w.all.o_stride + h * DIM);
    for (uint i = 0; i < DIMS; i++) {
      const uint d = i * threads + thread;
      if (d < DIM) o[to + d] = parts ? sums[r][i] : sums[r][i] / totals[r];
    }
    if (parts && thread == 0) {
      o[to + DIM] = peaks[r];
      o[to + DIM + 1] = totals[r];
    }
  }
}
