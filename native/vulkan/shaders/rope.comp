#version 450
// Between the qkv projection and attention, one dispatch: q/k norm, rotary positions, the gates gathered, keys and
// values appended to the cache. One workgroup a head of a token; heads are query | key | value.
#extension GL_GOOGLE_include_directive : require
#include "cache.glsl"

layout(constant_id = 10) const uint DIM = 64;
layout(constant_id = 13) const bool GATED = false;
layout(constant_id = 14) const bool IN_PLACE = false;
layout(constant_id = 15) const bool INTERLEAVED = false;
layout(constant_id = 1) const bool HAS_QUERY_NORM = false;
layout(constant_id = 16) const bool HAS_KEY_NORM = false;

layout(binding = 0) buffer Projected { float projected[]; };       // [tokens, q | k | v]
layout(binding = 1) readonly buffer QueryNorm { float q_norm[]; };
layout(binding = 2) readonly buffer KeyNorm { float k_norm[]; };
layout(binding = 3) readonly buffer Frequencies { float inv_freq[]; };
layout(binding = 4) readonly buffer Positions { int positions[]; };  // [axes, tokens]
layout(binding = 5) writeonly buffer Q { float q[]; };              // [tokens, query * dim]
layout(binding = 6) writeonly buffer Gates { float gates[]; };      // [tokens, query * dim]
layout(binding = 7) buffer Keys { uint keys[]; };
layout(binding = 8) buffer Values { uint values[]; };
ARGUMENTS(9, RopeParams);

shared float head[DIM];
CACHE_WRITER(store_key, keys, head)
CACHE_WRITER(store_value, values, head)

// M-RoPE, interleaved sections (modeling_qwen3_5.py): which of the axes t, h, w frequency j follows.
uint axis_of(uint j, uint h, uint w) {
  if (j % 3 == 1 && j < 3 * h) return 1;
  if (j % 3 == 2 && j < 3 * w) return 2;
  return 0;
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
  const uint token = gl_WorkGroupID.y, index_all = gl_WorkGroupID.x;
  const bool is_query = index_all < p.query, is_value = index_all >= p.query + p.kv;
  const uint index = is_query ? index_all : is_value ? index_all - p.query - p.kv : index_all - p.query;
  const uint query_step = GATED ? 2 * DIM : DIM;
  const uint column = is_query ? index * query_step : p.query * query_step + (is_value ? p.kv * DIM : 0) + index * DIM;
  const uint from = base[0] + token * p.p_stride + column;

  float squares = 0.0;
  for (uint i = thread; i < DIM; i += threads) squares += projected[from + i] * projected[from + i];
  const bool normalises = is_query ? HAS_QUERY_NORM : !is_value && HAS_KEY_NORM;
  const float scale = inverse_rms(group_sum(squares), DIM, is_query ? p.eps : p.key_eps);
  for (uint i = thread; i < DIM; i += threads) {
    const float weight = normalises ? (is_query ? q_norm[base[1] + i] : k_norm[base[2] + i]) * scale : 1.0;
    head[i] = projected[from + i] * weight;
  }
  barrier();
  if (!is_value) {
    const uint pairs = p.rotary_dim / 2;
    for (uint j = thread; j < pairs; j += threads) {
      const uint axis = p.position_axes == 3 ? axis_of(j, p.section_h, p.section_w) : 0;
      const float angle = float(positions[base[4] + axis * p.tokens + token]) * inv_freq[base[3] + j];
      const vec2 turn = sine_cosine(angle) * p.attention_scale;
      const uint a = INTERLEAVED ? 2 * j : j, b = INTERLEAVED ? 2 * j + 1 : j + pairs;
      const float x = head[a], y = head[b];
      head[a] = x * turn.y - y * turn.x;
      head[b] = y * turn.y + x * turn.x;
    }
  }
  barrier();
  if (IN_PLACE) {
    for (uint i = thread; i < DIM; i += threads) projected[from + i] = head[i];
  } else if (is_query) {
    const uint to = token * p.q_stride + index * DIM;
    for (uint i = thread; i < DIM; i += threads) q[base[5] + to + i] = head[i];
    if (GATED)
      for (uint i = thread; i < DIM; i += threads) gates[base[6] + to + i] = projected[from + DIM + i];
  } else {
    const uint at = (p.first_row + token) * p.row_bytes + index * p.head_bytes;
    if (is_value) store_value(base[8] * 4 + at, DIM);
    else store_key(base[7] * 4 + at, DIM);
  }
}
