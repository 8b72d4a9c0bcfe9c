#include "vulkan/backend.h"

namespace longhand::vulkan {

using namespace params;

Tensor VulkanBackend::convolve(const Tensor& x, const Buffer& taps, ConvState& state, bool product) {
  const auto [channels, width] = state.layout;
  assert(width >= 2 && width <= 8);
  const Tensor y = scratch(x.rows, channels);
  const ConvParams p{.tokens = narrow(x.rows),
                     .channels = narrow(channels),
                     .width = narrow(width),
                     .x_stride = narrow(x.stride),
                     .y_stride = narrow(y.stride)};
  run("short_conv", Constants().set(kSilu, !product).set(kProduct, product),
      {reads(x), reads(taps), updates(*state.window), writes(y)}, p,
      elements(static_cast<size_t>(channels), static_cast<size_t>(x.rows + kConvTokens - 1) / kConvTokens, 64));
  return y;
}

Tensor VulkanBackend::conv_silu(Tensor p, const Buffer& conv, ConvState& state) {
  assert(p.cols >= state.layout.channels);
  return convolve(p.columns(0, state.layout.channels), conv, state, false);
}

Tensor VulkanBackend::short_conv(Tensor p, const ShortConv& weights, ConvState& state) {
  assert(p.cols == 3 * weights.channels && state.layout.channels == weights.channels &&
         state.layout.width == weights.width);
  return convolve(p, *weights.conv, state, true);
}

}  // namespace longhand::vulkan
