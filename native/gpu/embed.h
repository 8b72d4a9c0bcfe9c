#pragma once

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
Tensor SharedOps<Api>::embed(std::span<const int32_t> ids, const Weight& table, float scale) {
  const auto& weight = Kinds::weight(table);
  const Tensor list = api().token_list(ids);
  const Tensor y = api().scratch(static_cast<int64_t>(ids.size()), weight.in);
  const auto grid = api().elements(static_cast<size_t>(weight.in + 7) / 8, ids.size(), 32);
  for (const Part& part : weight.parts) {
    Constants constants;
    constants.set(params::kGroup, part.group).set(params::kScaleType, part.scale_type);
    const auto kernel = Kinds::for_layout(Kinds::embed, constants, part);
    api().run(kernel, constants, {reads(*part.bytes), reads(*part.table), reads(list), writes(y)},
              Kinds::embed_params(weight, part, y, scale), grid);
  }
  return y;
}

template <class Api>
void SharedOps<Api>::row_op(RowOp op, const Tensor& x, const Tensor& z, const Tensor& y, int64_t z_stride) {
  const params::RowsParams p{.rows = narrow(y.rows),
                             .cols = narrow(y.cols),
                             .x_stride = narrow(x.stride),
                             .y_stride = narrow(y.stride),
                             .z_stride = narrow(z_stride)};
  api().run_rows(op, x, z, y, p, api().elements(static_cast<size_t>(y.cols), static_cast<size_t>(y.rows), 64));
}

template <class Api>
Tensor SharedOps<Api>::concat(Tensor a, Tensor b) {
  assert(a.rows == b.rows);
  const Tensor y = api().scratch(a.rows, a.cols + b.cols);
  row_op(RowOp::copy, a, {}, y.columns(0, a.cols), 0);
  row_op(RowOp::copy, b, {}, y.columns(a.cols, b.cols), 0);
  return y;
}

}  // namespace longhand::gpu
