// Causal depthwise convolutions over [window | x]: before the delta rule (with SiLU), and LFM2's gated short
// convolution (u = B * X, y = C * conv(u)). A thread walks one channel over kConvTokens tokens. The thread of the first
// tokens is the only one that reads the window, and writes the next one, so no two threads share it.
#include "params.h"
#include "shared/reduce.h"

constant bool SILU [[function_constant(17)]];
constant bool PRODUCT [[function_constant(18)]];

constant constexpr uint MAX_WIDTH = 8;
constant constexpr uint STEP = 32;

// The convolution's input at token t: x itself, or B * X of [B | C | X].
static inline float input_at(device const float* x, constant ConvParams& p, uint t, uint c) {
  device const float* row = x + ulong(t) * p.x_stride + c;
  return PRODUCT ? row[0] * row[2 * p.channels] : row[0];
}

kernel void short_conv(
    device const float* x [[buffer(0)]],     // [tokens, channels] or [tokens, B | C | X]
    device const float* taps [[buffer(1)]],  // [channels, width], newest last
    device const float* window
    [[buffer(2)]],  // [width - 1, channels], oldest first; may be the memory of `next_window`
    device float* next_window [[buffer(3)]],
    device float* y [[buffer(4)]],  // [tokens, channels]
    constant ConvParams& p [[buffer(5)]],
    uint2 at [[thread_position_in_grid]]) {
  const uint c = at.x;
  if (c >= p.channels) return;
  const uint first = at.y * STEP, end = min(first + STEP, p.tokens), past = p.width - 1;
  float recent[MAX_WIDTH];  // inputs t - past .. t, oldest first
  for (uint j = 0; j < past; j++) {
    const int t = int(first) - int(past) + int(j);
    recent[j] = t >= 0 ? input_at(x, p, uint(t), c) : window[(uint(t + int(past))) * p.channels + c];
  }
  for (uint t = first; t < end; t++) {
    recent[past] = input_at(x, p, t, c);
    float sum = 0;
    for (uint j = 0; j < p.width; j++) sum += taps[c * p.width + j] * recent[j];
    if (SILU) sum = silu(sum);
    if (PRODUCT) sum *= x[ulong(t) * p.x_stride + p.channels + c];
    y[ulong(t) * p.y_stride + c] = sum;
    for (uint j = 0; j < past; j++) recent[j] = recent[j + 1];
  }
  if (first != 0) return;
  for (uint j = 0; j < past; j++) {  // the newest inputs, or what is left of the old window
    const int t = int(p.tokens) - int(past) + int(j);
    next_window[j * p.channels + c] =
        t >= 0 ? input_at(x, p, uint(t), c) : window[uint(t + int(past)) * p.channels + c];
  }
}
