#pragma once

#include <cstdint>

namespace longhand::cpu {

// Causal depthwise convolution of one token: y[c] = sum_j taps[c][j] * x_{t - width + 1 + j}[c], the newest tap last.
// Inputs before this pass come from `window` [width - 1, channels], oldest first; token t of this pass is x + t *
// stride.
void convolve(const float* window, const float* x, int64_t stride, const float* taps, int64_t width, int64_t channels,
              int64_t t, float* y);
// The last width - 1 inputs of window followed by `tokens` rows of x.
void advance_window(float* window, const float* x, int64_t stride, int64_t width, int64_t channels, int64_t tokens);

}  // namespace longhand::cpu
