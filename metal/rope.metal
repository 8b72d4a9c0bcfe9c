// Between the qkv projection and attention, in one dispatch: q/k norm, rotary positions, gathering the gates, appending
// keys and values to the cache. One simdgroup a head of a token; heads are query | key | value.
#include "params.h"
#include "shared/cache.h"
#include "shared/instantiate.h"

constant uint DIM [[function_constant(10)]];
constant bool GATED [[function_constant(13)]];
constant bool IN_PLACE [[function_constant(14)]];
constant bool INTERLEAVED [[function_constant(15)]];
constant bool HAS_QUERY_NORM [[function_constant(1)]];
constant bool HAS_KEY_NORM [[function_constant(16)]];

// M-RoPE, interleaved sections (modeling_qwen3_5.py): which of the axes t, h, w frequency j follows.
static inline uint axis_of(uint j, uint h, uint w) {
  if (j % 3 == 1 && j < 3 * h) return 1;
  if (j % 3 == 2 && j < 3 * w) return 2;
  return 0;
}

template <class L>
[[kernel]] void qk_norm_rope_store(
    device float* p_rows [[buffer(0)]],  // [tokens, q | k | v]
    device const float* q_norm [[buffer(1)]],
    device const float* k_norm [[buffer(2)]],
    device const float* inv_freq [[buffer(3)]],
    device const int* positions [[buffer(4)]],  // [axes, tokens]
    device float* q [[buffer(5)]],              // [tokens, query * dim]
    device float* gates [[buffer(6)]],          // [tokens, query * dim]
    device uchar* keys [[buffer(7)]],
    device uchar* values [[buffer(8)]],
    constant RopeParams& p [[buffer(9)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head[MAX_HEAD_DIM];
  const uint token = group.y;
  const bool is_query = group.x < p.query;
  const bool is_value = group.x >= p.query + p.kv;
  const uint index = is_query ? group.x : is_value ? group.x - p.query - p.kv : group.x - p.query;
  const uint query_step = GATED ? 2 * DIM : DIM;
  const uint column = is_query ? index * query_step : p.query * query_step + (is_value ? p.kv * DIM : 0) + index * DIM;
  device float* from = p_rows + ulong(token) * p.p_stride + column;

  float squares = 0;
  for (uint i = lane; i < DIM; i += 32) squares += from[i] * from[i];
  const bool normalises = is_query ? HAS_QUERY_NORM : !is_value && HAS_KEY_NORM;
  const float scale = inverse_rms(squares, DIM, is_query ? p.eps : p.key_eps);
  for (uint i = lane; i < DIM; i += 32) {
    const float weight = normalises ? (is_query ? q_norm[i] : k_norm[i]) * scale : 1.0f;
    head[i] = from[i] * weight;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  const uint pairs = p.rotary_dim / 2;
  if (!is_value) {
    for (uint j = lane; j < pairs; j += 32) {
      const uint axis = p.position_axes == 3 ? axis_of(j, p.section_h, p.section_w) : 0;
      const float angle = float(positions[axis * p.tokens + token]) * inv_freq[j];
      const float c = precise::cos(angle) * p.attention_scale, s = precise::sin(angle) * p.attention_scale;
      const uint a = INTERLEAVED ? 2 * j : j, b = INTERLEAVED ? 2 * j + 1 : j + pairs;
      const float x = head[a], y = head[b];
      head[a] = x * c - y * s;
      head[b] = y * c + x * s;
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  if (IN_PLACE || is_query) {
    device float* to = IN_PLACE ? from : q + ulong(token) * p.q_stride + index * DIM;
    for (uint i = lane; i < DIM; i += 32) to[i] = head[i];
    if (GATED && !IN_PLACE)
      for (uint i = lane; i < DIM; i += 32) gates[ulong(token) * p.q_stride + index * DIM + i] = from[DIM + i];
  } else {
    device uchar* cache = is_value ? values : keys;
    L::store(cache + ulong(p.first_row + token) * p.row_bytes + ulong(index) * p.head_bytes, head, DIM, lane);
  }
}
INSTANTIATE(qk_norm_rope_store)
