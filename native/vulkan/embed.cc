#include "vulkan/backend.h"

namespace longhand::vulkan {

Tensor VulkanBackend::embed(std::span<const int32_t> ids, const Weight& table, float scale) {
  const VulkanWeight& weight = vulkan_weight(table);
  const Tensor list = upload(ids.data(), ids.size_bytes());
  const Tensor y = scratch(static_cast<int64_t>(ids.size()), weight.in);
  for (const Part& part : weight.parts) {
    const shared::EmbedRowsParams p{.columns = narrow(weight.in),
                                    .segments = part.segments,
                                    .y_stride = narrow(y.stride),
                                    .first = part.first,
                                    .rows = part.rows,
                                    .scale = scale};
    run("embed",
        Constants()
            .set(params::kGroup, part.group)
            .set(params::kScaleType, part.scale_type)
            .set(kLayout, part.layout)
            .set(kBits, part.bits),
        {reads(*part.bytes), reads(*part.table), reads(list), writes(y)}, p,
        elements(static_cast<size_t>(weight.in + 7) / 8, ids.size(), 32));
  }
  return y;
}

// y (op)= x, z: copy.comp.
void VulkanBackend::copy_rows(uint32_t kind, const Tensor& x, const Tensor& z, const Tensor& y, Access access,
                              int64_t z_stride) {
  const params::RowsParams p{.rows = narrow(y.rows),
                             .cols = narrow(y.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .z_stride = narrow(z_stride)};
  run("copy", Constants().set(kCopyKind, kind), {reads(x), z ? reads(z) : unused(x), of(y, access)}, p,
      elements(static_cast<size_t>(y.cols), static_cast<size_t>(y.rows), 64));
}

Tensor VulkanBackend::concat(Tensor a, Tensor b) {
  assert(a.rows == b.rows);
  const Tensor y = scratch(a.rows, a.cols + b.cols);
  copy_rows(shared::kCopyRows, a, {}, y.columns(0, a.cols), Access::write, 0);
  copy_rows(shared::kCopyRows, b, {}, y.columns(a.cols, b.cols), Access::write, 0);
  return y;
}

}  // namespace longhand::vulkan
