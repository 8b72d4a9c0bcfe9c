#version 450
// Decode and short passes, everything at once. A workgroup owns a key head and the value heads it serves, hence every
// channel of the convolution it reads and writes: nobody else touches its part of the window.
#extension GL_GOOGLE_include_directive : require
#include "gated_delta.glsl"

layout(binding = 0) readonly buffer Projected { float projected[]; };  // [tokens, q | k | v | z | b | a]
layout(binding = 1) readonly buffer Taps { float taps[]; };            // [channels, width], newest last
layout(binding = 2) readonly buffer Decay { float decay[]; };
layout(binding = 3) readonly buffer DtBias { float dt_bias[]; };
layout(binding = 4) readonly buffer Weight { float weight[]; };
layout(binding = 5) buffer Window { float window[]; };                 // [width - 1, channels]
layout(binding = 6) buffer State { float state[]; };
layout(binding = 7) writeonly buffer O { float o[]; };
ARGUMENTS(8, GatedDeltaParams);

shared float convolved[2 * MAX_STATE_DIM + MAX_STEP_VALUES];  // q | k | v of this key head: 2 * key_dim + served * value_dim
shared float raw[MAX_STEP_VALUES];                            // o before the norm: served * value_dim
shared float q_scale, k_scale;

uint value_head_of(uint local_head, uint key_head) {
  return TILED ? local_head * p.key_heads + key_head : key_head * (p.value_heads / p.key_heads) + local_head;
}
// Where local channel i of a key head lies among all channels: its q, its k, then v of each value head it serves.
uint channel_of(uint i, uint key_head) {
  const uint keys = p.key_heads * KEY_DIM;
  if (i < KEY_DIM) return key_head * KEY_DIM + i;
  if (i < 2 * KEY_DIM) return keys + key_head * KEY_DIM + (i - KEY_DIM);
  const uint v = i - 2 * KEY_DIM;
  return 2 * keys + value_head_of(v / p.value_dim, key_head) * p.value_dim + v % p.value_dim;
}
// The convolution's input `back` tokens before the pass began when negative.
float input_at(int t, uint channel, uint channels) {
  if (t >= 0) return projected[base[0] + uint(t) * p.p_stride + channel];
  return window[base[5] + uint(t + int(p.conv_width) - 1) * channels + channel];
}

void main() {
  const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, key_head = gl_WorkGroupID.x;
  const uint lane = gl_SubgroupInvocationID, lanes = gl_SubgroupSize;
  const uint served = p.value_heads / p.key_heads, values = served * p.value_dim;
  const uint channels = 2 * p.key_heads * KEY_DIM + p.value_heads * p.value_dim;
  const uint local_channels = 2 * KEY_DIM + values;
  const int past = int(p.conv_width) - 1;
  const bool owns = thread < values;
  const uint c = owns ? thread : values - 1, head = value_head_of(c / p.value_dim, key_head);
  const uint mine = base[6] + head * KEY_DIM * p.value_dim + c % p.value_dim;
  float s[KEY_DIM];
  for (uint j = 0; j < KEY_DIM; j++) s[j] = state[mine + j * p.value_dim];

  for (uint t = 0; t < p.tokens; t++) {
    const uint row = base[0] + t * p.p_stride;
    for (uint i = thread; i < local_channels; i += threads) {
      const uint channel = channel_of(i, key_head);
      float sum = 0.0;
      for (uint j = 0; j < p.conv_width; j++)
        sum += taps[base[1] + channel * p.conv_width + j] * input_at(int(t) - past + int(j), channel, channels);
      convolved[i] = silu(sum);
    }
    barrier();
    for (uint half_of = gl_SubgroupID; half_of < 2; half_of += gl_NumSubgroups) {
      float squares = 0.0;
      for (uint j = lane; j < KEY_DIM; j += lanes) squares += convolved[half_of * KEY_DIM + j] * convolved[half_of * KEY_DIM + j];
      squares = subgroupAdd(squares);
      if (subgroupElect() && half_of == 0) q_scale = query_scale(squares, p.l2_eps);
      if (subgroupElect() && half_of == 1) k_scale = key_scale(squares, p.l2_eps);
    }
    barrier();
    const uint gates = row + channels + p.value_heads * p.value_dim + head;
    const float beta = sigmoid(projected[gates]);
    const float alpha = exponential(decay[base[2] + head] * softplus(projected[gates + p.value_heads] + dt_bias[base[3] + head]));
    float seen[CHAINS];
    for (uint i = 0; i < CHAINS; i++) seen[i] = 0.0;
    for (uint j = 0; j < KEY_DIM; j++) {
      s[j] *= alpha;
      seen[j % CHAINS] += s[j] * (convolved[KEY_DIM + j] * k_scale);
    }
    const float u = beta * (convolved[2 * KEY_DIM + c] - sum_of(seen));
    float sums[CHAINS];
    for (uint i = 0; i < CHAINS; i++) sums[i] = 0.0;
    for (uint j = 0; j < KEY_DIM; j++) {
      s[j] += (convolved[KEY_DIM + j] * k_scale) * u;
      sums[j % CHAINS] += s[j] * (convolved[j] * q_scale);
    }
    if (owns) raw[thread] = sum_of(sums);
    barrier();
    for (uint h = gl_SubgroupID; h < served; h += gl_NumSubgroups) {
      const uint value_head = value_head_of(h, key_head);
      float squares = 0.0;
      for (uint i = lane; i < p.value_dim; i += lanes) squares += raw[h * p.value_dim + i] * raw[h * p.value_dim + i];
      const float scale = inverse_rms(subgroupAdd(squares), p.value_dim, p.norm_eps);
      const uint z = row + channels + value_head * p.value_dim;
      const uint to = base[7] + t * p.o_stride + value_head * p.value_dim;
      for (uint i = lane; i < p.value_dim; i += lanes)
        o[to + i] = gated(raw[h * p.value_dim + i], scale, weight[base[4] + i], projected[z + i]);
    }
    barrier();
  }
  if (owns)
    for (uint j = 0; j < KEY_DIM; j++) state[mine + j * p.value_dim] = s[j];
  for (uint i = thread; i < local_channels; i += threads) {  // the window each channel's own thread has read
    const uint channel = channel_of(i, key_head);
    for (int j = 0; j < past; j++) window[base[5] + uint(j) * channels + channel] = input_at(int(p.tokens) - past + j, channel, channels);
  }
}
