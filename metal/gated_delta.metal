// Gated delta rule (arXiv 2412.06464; modeling_qwen3_5.py). Per value head, S [key_dim, value_dim]:
//   S <- exp(g) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q        then o <- rms_norm(o) * w * silu(z)
//
// The state never leaves registers while tokens pass: a simdgroup owns 8 value columns, 4 lanes share a column's keys
// (lane = part * 8 + column), so a dot product is two shuffles. Eight columns a simdgroup measured 1.9-2.0x over one
// (mlx-lm PR 1559), and keys a lane must be known when the kernel is compiled: a run-time bound spills the state to
// memory and costs 1.7x (infr PR 26). Apple's GPUs before M5 have no matrix unit, so this scan beats the chunked form
// (chunk.metal).
//
// Decode is one dispatch: gated_delta_step also convolves, normalises and gates. Prefill convolves first
// (short_conv.metal), then scans, then normalises. Both call the same functions in the same order: the same bits.
#include "params.h"
#include "shared/reduce.h"

constant uint KEY_DIM [[function_constant(10)]];
constant bool TILED [[function_constant(19)]];
constant uint SLICES [[function_constant(25)]];      // threadgroups of the step that share a key head's value columns
constant bool NORM_APART [[function_constant(26)]];  // the step leaves o raw: a slice has only a part of a head

constant constexpr uint COLUMNS = 8;  // value columns a simdgroup

static inline float sum_of_parts(float x) {
  x += simd_shuffle_xor(x, 8);
  return x + simd_shuffle_xor(x, 16);
}
static inline uint key_head_of(uint value_head, constant GatedDeltaParams& p) {
  return TILED ? value_head % p.key_heads : value_head / (p.value_heads / p.key_heads);
}

// log-decay and write strength of a value head for one token, from its projections a and b.
struct Gates {
  float decay, beta;
};
static inline Gates gates_of(
    device const float* p_row,
    uint head,
    device const float* decay,
    device const float* dt_bias,
    constant GatedDeltaParams& p) {
  const uint first_b = 2 * p.key_heads * p.key_dim + 2 * p.value_heads * p.value_dim;
  Gates gates;
  gates.beta = sigmoid(p_row[first_b + head]);
  gates.decay = exp(decay[head] * softplus(p_row[first_b + p.value_heads + head] + dt_bias[head]));
  return gates;
}

// This lane's share of one column of S: keys [part * KPL, (part + 1) * KPL).
template <int KPL>
struct Column {
  float s[KPL];

  static bool holds(uint part, int j) { return KEY_DIM == 4 * KPL || part * KPL + j < KEY_DIM; }
  // A lane past the last column loads nothing: another lane may be storing to that address.
  void load(device const float* state, uint part, uint value_dim, bool active) {
#pragma clang loop unroll(full)
    for (int j = 0; j < KPL; j++) s[j] = active && holds(part, j) ? state[ulong(part * KPL + j) * value_dim] : 0.0f;
  }
  void store(device float* state, uint part, uint value_dim) const {
#pragma clang loop unroll(full)
    for (int j = 0; j < KPL; j++)
      if (holds(part, j)) state[ulong(part * KPL + j) * value_dim] = s[j];
  }
  // One token; this lane's keys of q and k as they come from the convolution (zero where it holds none), and the sums
  // of their squares. Returns o of this column, in every lane.
  template <class Keys>
  float step(Keys q, Keys k, float qq, float kk, float v, Gates gates, float l2_eps) {
    const float q_scale = 1.0f / precise::sqrt(sum_of_parts(qq) + l2_eps) / precise::sqrt(float(KEY_DIM));
    const float k_scale = 1.0f / precise::sqrt(sum_of_parts(kk) + l2_eps);
    float seen = 0;
#pragma clang loop unroll(full)
    for (int j = 0; j < KPL; j++) {
      s[j] *= gates.decay;
      seen += s[j] * (k[j] * k_scale);
    }
    const float u = gates.beta * (v - sum_of_parts(seen));
    float o = 0;
#pragma clang loop unroll(full)
    for (int j = 0; j < KPL; j++) {
      s[j] += (k[j] * k_scale) * u;
      o += s[j] * (q[j] * q_scale);
    }
    return sum_of_parts(o);
  }
};

// rms_norm(o) * w * silu(z) of one head of one token, by one simdgroup. `value` is lane l's element l, l + 32, ...
static inline float gated(float value, float scale, float weight, float z) { return value * scale * weight * silu(z); }

// Prefill: q | k | v come convolved from memory, the raw o goes to memory.
template <int KPL>
[[kernel]] void gated_delta_scan(
    device const float* qkv [[buffer(0)]],        // [tokens, q | k | v]
    device const float* projected [[buffer(1)]],  // [tokens, q | k | v | z | b | a]
    device const float* decay [[buffer(2)]],      // [value_heads]
    device const float* dt_bias [[buffer(3)]],    // [value_heads]
    device const float* before [[buffer(4)]],     // [value_heads, key_dim, value_dim]; may be the memory of `after`
    device float* after [[buffer(5)]],
    device float* o [[buffer(6)]],  // [tokens, value_heads * value_dim]
    constant GatedDeltaParams& p [[buffer(7)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint first = (group.x * simdgroups + simdgroup) * COLUMNS;
  if (first >= p.value_dim) return;
  const uint part = lane / COLUMNS, column = first + lane % COLUMNS, head = group.y;
  const bool active = column < p.value_dim;
  const uint c = active ? column : p.value_dim - 1;
  const uint keys = p.key_heads * p.key_dim, at = key_head_of(head, p) * p.key_dim + part * KPL;
  const ulong mine = ulong(head) * p.key_dim * p.value_dim + c;
  Column<KPL> S;
  S.load(before + mine, part, p.value_dim, active);
  for (uint t = 0; t < p.tokens; t++) {
    device const float* row = qkv + ulong(t) * p.qkv_stride;
    float q[KPL], k[KPL];
#pragma clang loop unroll(full)
    for (int j = 0; j < KPL; j++) {
      q[j] = Column<KPL>::holds(part, j) ? row[at + j] : 0.0f;
      k[j] = Column<KPL>::holds(part, j) ? row[keys + at + j] : 0.0f;
    }
    const Gates gates = gates_of(projected + ulong(t) * p.p_stride, head, decay, dt_bias, p);
    float qq = 0, kk = 0;
#pragma clang loop unroll(full)
    for (int j = 0; j < KPL; j++) {
      qq += q[j] * q[j];
      kk += k[j] * k[j];
    }
    const float v = row[2 * keys + head * p.value_dim + c];
    const float out = S.step((thread const float*)q, (thread const float*)k, qq, kk, v, gates, p.l2_eps);
    if (active && part == 0) o[ulong(t) * p.o_stride + head * p.value_dim + column] = out;
  }
  if (active) S.store(after + mine, part, p.value_dim);
}

// Prefill's last step, in place on o. One simdgroup a head of a token.
kernel void gated_norm(
    device const float* projected [[buffer(0)]],  // z at [channels, channels + values)
    device const float* weight [[buffer(1)]],     // [value_dim]
    device float* o [[buffer(2)]],
    constant GatedDeltaParams& p [[buffer(3)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint first_z = 2 * p.key_heads * p.key_dim + p.value_heads * p.value_dim;
  device const float* z = projected + ulong(group.y) * p.p_stride + first_z + group.x * p.value_dim;
  device float* head = o + ulong(group.y) * p.o_stride + group.x * p.value_dim;
  float squares = 0;
  for (uint i = lane; i < p.value_dim; i += 32) squares += head[i] * head[i];
  const float scale = inverse_rms(squares, p.value_dim, p.norm_eps);
  for (uint i = lane; i < p.value_dim; i += 32) head[i] = gated(head[i], scale, weight[i], z[i]);
}

// The value head that is number `local` of those a key head serves.
static inline uint value_head_of(uint local, uint key_head, constant GatedDeltaParams& p) {
  return TILED ? local * p.key_heads + key_head : key_head * (p.value_heads / p.key_heads) + local;
}
// Index among all channels of local channel i of a slice of a key head: its q, its k, then v of the slice's columns,
// which begin with column `first` of all value heads that the key head serves.
static inline uint channel_of(uint i, uint key_head, uint first, constant GatedDeltaParams& p) {
  const uint keys = p.key_heads * p.key_dim;
  if (i < p.key_dim) return key_head * p.key_dim + i;
  if (i < 2 * p.key_dim) return keys + key_head * p.key_dim + (i - p.key_dim);
  const uint v = first + i - 2 * p.key_dim;
  return 2 * keys + value_head_of(v / p.value_dim, key_head, p) * p.value_dim + v % p.value_dim;
}

// Index of local channel i in threadgroup memory: q and k by parts of KPL keys with a float between them, so that the
// four parts of a simdgroup read from four banks; then v.
template <int KPL>
static inline uint place_of(uint i, constant GatedDeltaParams& p) {
  if (i >= 2 * p.key_dim) return 8 * (KPL + 1) + i - 2 * p.key_dim;
  const uint key = i % p.key_dim;
  return (i / p.key_dim * 4 + key / KPL) * (KPL + 1) + key % KPL;
}

// Decode and short passes, everything at once. A threadgroup owns a key head and the value heads it serves, hence every
// channel of the convolution it reads and writes: no other threadgroup touches its part of the window. With 128 value
// columns that is 512 threads, which an M1 runs only where each needs few registers: q and k stay in threadgroup
// memory.
//
// A large chip has more cores than a model has key heads: SLICES threadgroups share a head's value columns then. Each
// convolves q and k itself, and the first of them moves their window on, which therefore goes to other memory.
template <int KPL>
[[kernel]] void gated_delta_step(
    device const float* projected [[buffer(0)]],  // [tokens, q | k | v | z | b | a]
    device const float* taps [[buffer(1)]],       // [channels, width], newest last
    device const float* decay [[buffer(2)]],
    device const float* dt_bias [[buffer(3)]],
    device const float* weight [[buffer(4)]],
    device const float* window [[buffer(5)]],  // [width - 1, channels]; may be the memory of `next_window`
    device float* next_window [[buffer(6)]],
    device const float* before [[buffer(7)]],  // [value_heads, key_dim, value_dim]; may be the memory of `after`
    device float* after [[buffer(8)]],
    device float* o [[buffer(9)]],
    constant GatedDeltaParams& p [[buffer(10)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint2 size [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float convolved[8 * (KPL + 1) + MAX_STEP_VALUES];  // q | k | v of this key head: place_of
  threadgroup float raw[MAX_STEP_VALUES];                        // o before the norm: served * value_dim
  const uint key_head = group.x, threads = size.x;
  const uint values = p.value_heads / p.key_heads * p.value_dim / SLICES, first = group.y * values;
  const uint channels = 2 * p.key_heads * p.key_dim + p.value_heads * p.value_dim;
  const uint local_channels = 2 * p.key_dim + values, past = p.conv_width - 1;
  const uint part = lane / COLUMNS, column = simdgroup * COLUMNS + lane % COLUMNS;
  const bool active = column < values;
  const uint local = active ? column : values - 1, c = first + local;
  const uint head = value_head_of(c / p.value_dim, key_head, p);
  const ulong mine = ulong(head) * p.key_dim * p.value_dim + c % p.value_dim;
  Column<KPL> S;
  S.load(before + mine, part, p.value_dim, active);
  threadgroup const float* q = convolved + part * (KPL + 1);
  threadgroup const float* k = q + 4 * (KPL + 1);
  for (uint i = thread_index; i < 8 * (KPL + 1); i += threads) convolved[i] = 0;  // where no key is
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint t = 0; t < p.tokens; t++) {
    device const float* row = projected + ulong(t) * p.p_stride;
    for (uint i = thread_index; i < local_channels; i += threads) {
      const uint channel = channel_of(i, key_head, first, p);
      float sum = 0;
      for (uint j = 0; j < p.conv_width; j++) {
        const int from = int(t) - int(past) + int(j);
        const float input = from >= 0 ? projected[ulong(from) * p.p_stride + channel]
                                      : window[uint(from + int(past)) * channels + channel];
        sum += taps[channel * p.conv_width + j] * input;
      }
      convolved[place_of<KPL>(i, p)] = silu(sum);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const Gates gates = gates_of(row, head, decay, dt_bias, p);
    float qq = 0, kk = 0;
#pragma clang loop unroll(disable)  // unrolled, the loads would occupy registers until the products need them
    for (int j = 0; j < KPL; j++) {
      qq += q[j] * q[j];
      kk += k[j] * k[j];
    }
    const float out = S.step(q, k, qq, kk, convolved[8 * (KPL + 1) + local], gates, p.l2_eps);
    device float* o_row = o + ulong(t) * p.o_stride;
    if (NORM_APART && active && part == 0) o_row[head * p.value_dim + c % p.value_dim] = out;
    if (!NORM_APART && active && part == 0) raw[column] = out;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (NORM_APART) continue;
    for (uint h = simdgroup; h < values / p.value_dim; h += (threads + 31) / 32) {
      const uint value_head = value_head_of(first / p.value_dim + h, key_head, p);
      float squares = 0;
      for (uint i = lane; i < p.value_dim; i += 32) squares += raw[h * p.value_dim + i] * raw[h * p.value_dim + i];
      const float scale = inverse_rms(squares, p.value_dim, p.norm_eps);
      device const float* z = row + channels + value_head * p.value_dim;
      device float* to = o_row + value_head * p.value_dim;
      for (uint i = lane; i < p.value_dim; i += 32) to[i] = gated(raw[h * p.value_dim + i], scale, weight[i], z[i]);
    }
  }
  if (active) S.store(after + mine, part, p.value_dim);
  const uint own = group.y == 0 ? 0 : 2 * p.key_dim;
  for (uint i = own + thread_index; i < local_channels; i += threads) {  // the window each channel's thread has read
    const uint channel = channel_of(i, key_head, first, p);
    for (uint j = 0; j < past; j++) {
      const int from = int(p.tokens) - int(past) + int(j);
      next_window[j * channels + channel] = from >= 0 ? projected[ulong(from) * p.p_stride + channel]
                                                      : window[uint(from + int(past)) * channels + channel];
    }
  }
}

#define DELTA(kpl)                                                                                                   \
  template [[host_name("gated_delta_scan_" #kpl)]] [[kernel]] decltype(gated_delta_scan<kpl>) gated_delta_scan<kpl>; \
  template [[host_name("gated_delta_step_" #kpl)]] [[kernel]] decltype(gated_delta_step<kpl>) gated_delta_step<kpl>;
DELTA(4)
DELTA(8)
DELTA(16)
DELTA(32)
DELTA(64)
