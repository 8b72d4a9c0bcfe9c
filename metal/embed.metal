// Rows of a table in any weight layout: y[i] = scale * table[ids[i]]. Eight elements a thread.
#include "shared/blocks.h"
#include "shared/instantiate.h"

template <class L>
[[kernel]] void embed(
    device const uchar* table [[buffer(0)]],
    device const WeightSegment* segments [[buffer(1)]],
    device const int* ids [[buffer(2)]],
    device float* y [[buffer(3)]],  // [tokens, in]
    constant EmbedParams& p [[buffer(4)]],
    uint2 at [[thread_position_in_grid]]) {
  const uint k = at.x * 8;
  if (k >= p.in) return;
  const Row row = find_row(segments, p.segments, 0, 0, uint(ids[at.y]));
  y += ulong(at.y) * p.y_stride;
  if (k + 8 <= p.in) {
    float w[8];
    L::decode8(table, row, k, w);
    for (uint i = 0; i < 8; i++) y[k + i] = p.scale * w[i];
  } else {
    for (uint i = k; i < p.in; i++) y[i] = p.scale * L::decode1(table, row, i);
  }
}
INSTANTIATE(embed)
