#version 450
// Causal depthwise convolutions over [window | x]: before the delta rule (with SiLU), and LFM2's gated short
// convolution (u = B * X, y = C * conv(u)). A thread walks one channel over kConvTokens tokens. The thread of the first
// tokens is the only one that reads the window, and writes the next one, so no two threads share it.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

layout(constant_id = 17) const bool SILU = false;
layout(constant_id = 18) const bool PRODUCT = false;

layout(binding = 0) readonly buffer X { float x[]; };        // [tokens, channels] or [tokens, B | C | X]
layout(binding = 1) readonly buffer Taps { float taps[]; };  // [channels, width], newest last
layout(binding = 2) buffer Window { float window[]; };       // [width - 1, channels], oldest first
layout(binding = 3) writeonly buffer Y { float y[]; };       // [tokens, channels]
ARGUMENTS(4, ConvParams);

const uint MAX_WIDTH = 8;
const uint STEP = 32;

// The convolution's input at token t: x itself, or B * X of [B | C | X]; before the pass, what the window holds.
float input_at(int t, uint c) {
  if (t < 0) return window[base[2] + uint(t + int(p.width) - 1) * p.channels + c];
  const uint at = base[0] + uint(t) * p.x_stride + c;
  return PRODUCT ? x[at] * x[at + 2 * p.channels] : x[at];
}

void main() {
  const uint c = gl_GlobalInvocationID.x;
  if (c >= p.channels) return;
  const uint first = gl_WorkGroupID.y * STEP, end = min(first + STEP, p.tokens);
  const int past = int(p.width) - 1;
  float recent[MAX_WIDTH];  // inputs t - past .. t, oldest first
  for (int j = 0; j < past; j++) recent[j] = input_at(int(first) - past + j, c);
  for (uint t = first; t < end; t++) {
    recent[past] = input_at(int(t), c);
    float sum = 0.0;
    for (uint j = 0; j < p.width; j++) sum += taps[base[1] + c * p.width + j] * recent[j];
    if (SILU) sum = silu(sum);
    if (PRODUCT) sum *= x[base[0] + t * p.x_stride + p.channels + c];
    y[base[3] + t * p.y_stride + c] = sum;
    for (int j = 0; j < past; j++) recent[j] = recent[j + 1];
  }
  if (first != 0) return;
  for (int j = 0; j < past; j++)  // the newest inputs, or what is left of the old window
    window[base[2] + uint(j) * p.channels + c] = input_at(int(p.tokens) - past + j, c);
}
