#pragma once

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
Tensor SharedOps<Api>::rms_norm(Tensor x, const Norm& norm) {
  const Tensor y = api().scratch(x.rows, x.cols);
  api().run_rms_norm(x, norm, y,
                     params::NormParams{.n = narrow(x.cols),
                                        .x_stride = narrow(x.stride),
                                        .y_stride = narrow(y.stride),
                                        .add_stride = 0,
                                        .eps = norm.eps});
  return y;
}

template <class Api>
Tensor SharedOps<Api>::layer_norm(Tensor x, const LayerNorm& norm, Tensor add) {
  const Tensor y = api().scratch(x.rows, x.cols);
  const params::NormParams p{.n = narrow(x.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .add_stride = narrow(add.stride),
                             .eps = norm.eps};
  api().run_layer_norm(Constants().set(params::kAddTo, add ? 1 : 0),
                       {reads(x), add ? reads(add) : unused(x), reads(norm.weight), reads(norm.bias), writes(y)}, p,
                       x.rows);
  return y;
}

}  // namespace longhand::gpu
