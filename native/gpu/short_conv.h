#pragma once

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
Tensor SharedOps<Api>::convolve(const Tensor& x, const Buffer& taps, ConvState& state, bool product) {
  const auto [channels, width] = state.layout;
  assert(width >= 2 && width <= gpu_shapes.taps);
  const Tensor y = api().scratch(x.rows, channels);
  const params::ConvParams p{.tokens = narrow(x.rows),
                             .channels = narrow(channels),
                             .width = narrow(width),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride)};
  const auto runs = static_cast<size_t>(x.rows + params::kConvTokens - 1) / params::kConvTokens;
  api().run_conv(Constants().set(params::kSilu, !product).set(params::kProduct, product), x, taps, state, y, p,
                 api().elements(static_cast<size_t>(channels), runs, 64));
  return y;
}

template <class Api>
Tensor SharedOps<Api>::conv_silu(Tensor p, const Buffer& conv, ConvState& state) {
  assert(p.cols >= state.layout.channels);
  return convolve(p.columns(0, state.layout.channels), conv, state, false);
}

template <class Api>
Tensor SharedOps<Api>::short_conv(Tensor p, const ShortConv& weights, ConvState& state) {
  assert(p.cols == 3 * weights.channels && state.layout.channels == weights.channels &&
         state.layout.width == weights.width);
  return convolve(p, *weights.conv, state, true);
}

}  // namespace longhand::gpu
