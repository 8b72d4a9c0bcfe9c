#include "vulkan/backend.h"

namespace longhand::vulkan {

namespace {
constexpr uint32_t row_threads = 128;
}

Tensor VulkanBackend::rms_norm(Tensor x, const Norm& norm) {
  const Tensor y = scratch(x.rows, x.cols);
  const params::NormParams p{.n = narrow(x.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .add_stride = 0,
                             .eps = norm.eps};
  run("norm", Constants{}, {reads(x), unused(x), reads(norm.weight), unused(x), writes(y)}, p,
      groups(static_cast<size_t>(x.rows), 1, row_threads));
  return y;
}

Tensor VulkanBackend::layer_norm(Tensor x, const LayerNorm& norm, Tensor add) {
  const Tensor y = scratch(x.rows, x.cols);
  const params::NormParams p{.n = narrow(x.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .add_stride = narrow(add.stride),
                             .eps = norm.eps};
  run("norm", Constants().set(params::kAddTo, add ? 1 : 0).set(kCentred, 1),
      {reads(x), add ? reads(add) : unused(x), reads(norm.weight), reads(norm.bias), writes(y)}, p,
      groups(static_cast<size_t>(x.rows), 1, row_threads));
  return y;
}

}  // namespace longhand::vulkan
