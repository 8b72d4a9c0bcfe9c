// Causal depthwise convolutions: before the delta rule (with SiLU), and LFM2's gated short convolution.
#include "cpu/short_conv.h"

#include <algorithm>
#include <cstring>

#include "cpu/activation.h"
#include "cpu/backend.h"

namespace longhand::cpu {

void convolve(const float* window, const float* x, int64_t stride, const float* taps, int64_t width, int64_t channels,
              int64_t t, float* y) {
  std::fill_n(y, channels, 0.0f);
  for (int64_t j = 0; j < width; ++j) {
    const int64_t source = t - width + 1 + j;
    const float* input = source >= 0 ? x + source * stride : window + (source + width - 1) * channels;
    for (int64_t c = 0; c < channels; ++c) y[c] += taps[c * width + j] * input[c];
  }
}

void advance_window(float* window, const float* x, int64_t stride, int64_t width, int64_t channels, int64_t tokens) {
  const int64_t kept = std::max<int64_t>(width - 1 - tokens, 0);
  std::memmove(window, window + (width - 1 - kept) * channels, static_cast<size_t>(kept * channels) * sizeof(float));
  for (int64_t i = kept; i < width - 1; ++i)
    std::copy_n(x + (tokens - (width - 1) + i) * stride, channels, window + i * channels);
}

Tensor CpuBackend::conv_silu(Tensor p, const Buffer& conv, ConvState& state) {
  const auto [channels, width] = state.layout;
  assert(p.cols >= channels);
  const float* taps = floats(const_cast<Buffer&>(conv));
  const Tensor y = scratch(p.rows, channels);
  parallel(p.rows, [&](int64_t t) {
    convolve(floats(state.window), data(p), p.stride, taps, width, channels, t, row(y, t));
    for (int64_t c = 0; c < channels; ++c) row(y, t)[c] = silu(row(y, t)[c]);
  });
  advance_window(floats(*state.window), data(p), p.stride, width, channels, p.rows);
  return y;
}

// model-specs 10.3: u = B * X, y = C * conv(u).
Tensor CpuBackend::short_conv(Tensor p, const ShortConv& weights, ConvState& state) {
  const int64_t channels = weights.channels;
  assert(p.cols == 3 * channels && state.layout.channels == channels && state.layout.width == weights.width);
  const Tensor u = scratch(p.rows, channels);
  const Tensor y = scratch(p.rows, channels);
  parallel(p.rows, [&](int64_t t) {
    for (int64_t c = 0; c < channels; ++c) row(u, t)[c] = row(p, t)[c] * row(p, t)[2 * channels + c];
  });
  parallel(p.rows, [&](int64_t t) {
    convolve(floats(state.window), data(u), u.stride, floats(weights.conv), weights.width, channels, t, row(y, t));
    for (int64_t c = 0; c < channels; ++c) row(y, t)[c] *= row(p, t)[channels + c];
  });
  advance_window(floats(*state.window), data(u), u.stride, weights.width, channels, p.rows);
  return y;
}

}  // namespace longhand::cpu
