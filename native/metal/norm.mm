#include "metal/backend.h"

namespace longhand::metal {

static Grid row_each(const Tensor& x) { return {{static_cast<size_t>(x.rows), 1, 1}, {32, 1, 1}}; }

Tensor MetalBackend::rms_norm(Tensor x, const Norm& norm) {
  const Tensor y = scratch(x.rows, x.cols);
  const params::NormParams p{.n = narrow(x.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .add_stride = 0,
                             .eps = norm.eps};
  run(Kernel{"norm", "rms_norm"}, Constants{}, {reads(x), reads(norm.weight), writes(y)}, p, row_each(x));
  return y;
}

Tensor MetalBackend::layer_norm(Tensor x, const LayerNorm& norm, Tensor add) {
  const Tensor y = scratch(x.rows, x.cols);
  const params::NormParams p{.n = narrow(x.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .add_stride = narrow(add.stride),
                             .eps = norm.eps};
  run(Kernel{"norm", "layer_norm"}, Constants().set(params::kAddTo, add ? 1 : 0),
      {reads(x), add ? reads(add) : unused(x), reads(norm.weight), reads(norm.bias), writes(y)}, p, row_each(x));
  return y;
}

}  // namespace longhand::metal
