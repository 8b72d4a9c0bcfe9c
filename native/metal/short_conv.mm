#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

Tensor MetalBackend::convolve(const Tensor& x, const Buffer& taps, ConvState& state, bool product) {
  const auto [channels, width] = state.layout;
  assert(width >= 2 && width <= 8);
  const Tensor y = scratch(x.rows, channels);
  const ConvParams p{.tokens = narrow(x.rows),
                     .channels = narrow(channels),
                     .width = narrow(width),
                     .x_stride = narrow(x.stride),
                     .y_stride = narrow(y.stride)};
  run(Kernel{"short_conv", "short_conv"}, Constants().set(kSilu, !product).set(kProduct, product),
      {reads(x), reads(taps), reads(state.window), writes(slot_after(state.window, state.other)), writes(y)}, p,
      elements(static_cast<size_t>(channels), static_cast<size_t>(x.rows + kConvTokens - 1) / kConvTokens, 64));
  change_slots(state.window, state.other);
  return y;
}

Tensor MetalBackend::conv_silu(Tensor p, const Buffer& conv, ConvState& state) {
  assert(p.cols >= state.layout.channels);
  return convolve(p.columns(0, state.layout.channels), conv, state, false);
}

Tensor MetalBackend::short_conv(Tensor p, const ShortConv& weights, ConvState& state) {
  assert(p.cols == 3 * weights.channels && state.layout.channels == weights.channels &&
         state.layout.width == weights.width);
  return convolve(p, *weights.conv, state, true);
}

}  // namespace longhand::metal
