// Causal depthwise convolutions: before the delta rule (with SiLU), and LFM2's gated short convolution.
#include <algorithm>
#include <cstring>

#include "cpu/backend.h"
#include "cpu/scalar.h"

namespace longhand::cpu {

// y[c] = sum_j taps[c][j] inputs[j][c], the newest tap last.
void scalar::convolve(const float* const* inputs, const float* taps, int64_t width, int64_t channels, float* y) {
  std::fill_n(y, channels, 0.0f);
  for (int64_t j = 0; j < width; ++j)
    for (int64_t c = 0; c < channels; ++c) y[c] += taps[c * width + j] * inputs[j][c];
}

namespace {

constexpr int64_t most_taps = 16;

// The `width` inputs of token t, oldest first: rows of x, and before them rows of window [width - 1, channels].
struct Inputs {
  const float* at[most_taps];
  Inputs(const ConvState& state, const Tensor& x, int64_t t, int64_t first_channel) {
    const auto [channels, width] = state.layout;
    assert(width <= most_taps);
    for (int64_t j = 0; j < width; ++j) {
      const int64_t source = t - width + 1 + j;
      at[j] = (source >= 0 ? row(x, source) : floats(state.window) + (source + width - 1) * channels) + first_channel;
    }
  }
};

// The last width - 1 inputs of the window followed by the rows of x.
void advance_window(const ConvState& state, const Tensor& x) {
  const auto [channels, width] = state.layout;
  float* window = floats(*state.window);
  const int64_t kept = std::max<int64_t>(width - 1 - x.rows, 0);
  std::memmove(window, window + (width - 1 - kept) * channels, static_cast<size_t>(kept * channels) * sizeof(float));
  for (int64_t i = kept; i < width - 1; ++i)
    std::copy_n(row(x, x.rows - (width - 1) + i), channels, window + i * channels);
}

constexpr int64_t channel_tile = 512;

}  // namespace

Tensor CpuBackend::conv_silu(Tensor p, const Buffer& conv, ConvState& state) {
  const auto [channels, width] = state.layout;
  assert(p.cols >= channels);
  const float* taps = floats(const_cast<Buffer&>(conv));
  const Tensor y = scratch(p.rows, channels);
  const int64_t all = channels, tiles = (channels + channel_tile - 1) / channel_tile, taps_each = width;
  parallel(p.rows * tiles, [&](int64_t item) {
    const int64_t t = item / tiles, first = item % tiles * channel_tile, count = std::min(channel_tile, all - first);
    float* to = row(y, t) + first;
    kernels_.convolve(Inputs(state, p, t, first).at, taps + first * taps_each, taps_each, count, to);
    kernels_.silu(to, count);
  });
  advance_window(state, p.columns(0, channels));
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
    kernels_.convolve(Inputs(state, u, t, 0).at, floats(weights.conv), weights.width, channels, row(y, t));
    for (int64_t c = 0; c < channels; ++c) row(y, t)[c] *= row(p, t)[channels + c];
  });
  advance_window(state, u);
  return y;
}

}  // namespace longhand::cpu
