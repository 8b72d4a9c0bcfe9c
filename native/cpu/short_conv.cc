// Causal depthwise convolutions: before the delta rule (with SiLU), and LFM2's gated short convolution.
#include <algorithm>
#include <cstring>

#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"

namespace longhand::cpu {

void scalar::convolve(const ConvTile& tile) {
  for (int64_t t = 0; t < tile.tokens; ++t) {
    float* y = tile.y + t * tile.y_stride;
    std::fill_n(y, tile.channels, 0.0f);
    for (int64_t j = 0; j < tile.width; ++j)
      for (int64_t c = 0; c < tile.channels; ++c) y[c] += tile.taps[c * tile.width + j] * tile.inputs[t + j][c];
  }
}

namespace {

constexpr int64_t most_taps = 16;
constexpr int64_t token_tile = 16, channel_tile = 512;  // 32 KB: they stay in the first-level cache

// The inputs of tokens [t, t + tokens), oldest first: rows of x, and before them rows of window [width - 1, channels].
struct Inputs {
  const float* at[most_taps + token_tile - 1];
  Inputs(const ConvState& state, const Tensor& x, int64_t t, int64_t tokens, int64_t first_channel) {
    const auto [channels, width] = state.layout;
    assert(width <= most_taps && tokens <= token_tile);
    for (int64_t j = 0; j < tokens + width - 1; ++j) {
      const int64_t source = t - width + 1 + j;
      at[j] = (source >= 0 ? row(x, source) : floats(state.window) + (source + width - 1) * channels) + first_channel;
    }
  }
};

// The last width - 1 inputs of the window followed by the rows of x.
void advance_window(const ConvState& state, const Tensor& x) {
  const auto [channels, width] = state.layout;
  float* window = floats(*state.window);
  const int64_t carried = std::max<int64_t>(width - 1 - x.rows, 0);
  std::memmove(window, window + (width - 1 - carried) * channels,
               static_cast<size_t>(carried * channels) * sizeof(float));
  for (int64_t i = carried; i < width - 1; ++i)
    std::copy_n(row(x, x.rows - (width - 1) + i), channels, window + i * channels);
}

// Tokens [t, t + tokens) by channels [c, c + channels): one work item.
struct Piece {
  int64_t t, tokens, c, channels;
};

// A single token takes less time than waking the other threads, so it is one piece.
int64_t channels_a_piece(const ConvState& state, const Tensor& x) {
  return x.rows == 1 ? state.layout.channels : channel_tile;
}

int64_t pieces_a_row(const ConvState& state, const Tensor& x) {
  const int64_t each = channels_a_piece(state, x);
  return (state.layout.channels + each - 1) / each;
}

int64_t piece_count(const ConvState& state, const Tensor& x) {
  return (x.rows + token_tile - 1) / token_tile * pieces_a_row(state, x);
}

Piece piece_at(const ConvState& state, const Tensor& x, int64_t item) {
  const int64_t pieces = pieces_a_row(state, x), each = channels_a_piece(state, x);
  const int64_t t = item / pieces * token_tile, c = item % pieces * each;
  return {t, std::min(token_tile, x.rows - t), c, std::min(each, state.layout.channels - c)};
}

void convolve(const Kernels& kernels, const ConvState& state, const Tensor& x, const float* taps, const Piece& piece,
              const Tensor& y) {
  const Inputs inputs(state, x, piece.t, piece.tokens, piece.c);
  const int64_t width = state.layout.width;
  kernels.convolve(
      {inputs.at, taps + piece.c * width, width, piece.channels, piece.tokens, row(y, piece.t) + piece.c, y.stride});
}

}  // namespace

Tensor CpuBackend::conv_silu(Tensor p, const Buffer& conv, ConvState& state) {
  const int64_t channels = state.layout.channels;
  assert(p.cols >= channels);
  const float* taps = floats(const_cast<Buffer&>(conv));
  const Tensor y = scratch(p.rows, channels);
  parallel(piece_count(state, p), [&](int64_t item) {
    const Piece piece = piece_at(state, p, item);
    convolve(kernels_, state, p, taps, piece, y);
    for (int64_t t = piece.t; t < piece.t + piece.tokens; ++t) kernels_.silu(row(y, t) + piece.c, piece.channels);
  });
  advance_window(state, p.columns(0, channels));
  return y;
}

Tensor CpuBackend::convolve_each(Tensor p, const Buffer& conv, std::span<const DeltaMemory> memories) {
  const int64_t channels = memories.front().conv->layout.channels;
  const float* taps = floats(const_cast<Buffer&>(conv));
  const Tensor y = scratch(p.rows, channels);
  parallel(p.rows, [&](int64_t i) {
    const ConvState& state = *memories[static_cast<size_t>(i)].conv;
    const Tensor token = p.row_range(i, 1);
    convolve(kernels_, state, token, taps, {0, 1, 0, channels}, y.row_range(i, 1));
    kernels_.silu(row(y, i), channels);
    advance_window(state, token.columns(0, channels));
  });
  return y;
}

// u = B * X, y = C * conv(u).
Tensor CpuBackend::short_conv(Tensor p, const ShortConv& weights, ConvState& state) {
  const int64_t channels = weights.channels;
  assert(p.cols == 3 * channels && state.layout.channels == channels && state.layout.width == weights.width);
  const Tensor u = scratch(p.rows, channels);
  const Tensor y = scratch(p.rows, channels);
  parallel(p.rows, [&](int64_t t) {
    for (int64_t c = 0; c < channels; ++c) row(u, t)[c] = row(p, t)[c] * row(p, t)[2 * channels + c];
  });
  parallel(piece_count(state, u), [&](int64_t item) {
    const Piece piece = piece_at(state, u, item);
    convolve(kernels_, state, u, floats(weights.conv), piece, y);
    for (int64_t t = piece.t; t < piece.t + piece.tokens; ++t) {
      const float* gate = row(p, t) + channels;
      for (int64_t c = piece.c; c < piece.c + piece.channels; ++c) row(y, t)[c] *= gate[c];
    }
  });
  advance_window(state, u);
  return y;
}

}  // namespace longhand::cpu
