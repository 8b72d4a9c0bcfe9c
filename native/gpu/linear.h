// Projections: few rows go to the matvec (bound by the bytes of W), many to the tiled matmul (bound by arithmetic).
#pragma once

#include <algorithm>

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
void SharedOps<Api>::project_rows(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y,
                                  bool tiled) {
  using namespace params;
  const Linear& options = projection.options;
  const Routes* routes = projection.routes;
  const uint32_t outputs = projection.swiglu ? part.rows / 2 : part.rows;
  Constants constants;
  constants.set(kHasNorm, options.norm != nullptr)
      .set(kGateKind, static_cast<uint32_t>(options.gate_kind))
      .set(kHasBias, options.bias != nullptr)
      .set(kActivation, static_cast<uint32_t>(options.activation))
      .set(kAddTo, options.add_to ? 1 : 0)
      .set(kSwiGlu, projection.swiglu)
      .set(kByExpert, routes != nullptr)
      .set(kGroup, part.group)
      .set(kScaleType, part.scale_type);
  const LinearParams p{.in = narrow(x.cols),
                       .rows = part.rows,
                       .tokens = narrow(x.rows),
                       .x_stride = narrow(x.stride),
                       .y_stride = narrow(y.stride),
                       .gate_stride = narrow(options.gate.stride),
                       .segments = part.segments,
                       .expert_tables = part.expert_tables,
                       .topk = projection.tiles ? projection.topk
                               : routes         ? narrow(routes->topk)
                                                : 1,
                       .eps = options.norm ? options.norm->eps : 0.0f,
                       .scale = options.scale};
  // Parts write disjoint columns: bound from where each begins, they do not wait for one another.
  const uint32_t first = projection.swiglu ? part.first / 2 : part.first;
  const Tensor out = y.columns(first, outputs);
  const auto bias = [&] {
    return part_of(**options.bias, first * sizeof(float), outputs * sizeof(float), Access::read);
  };
  api().launch({.part = part,
                .projection = projection,
                .x = x,
                .constants = constants,
                .params = p,
                .inputs = {reads(*part.bytes), reads(*part.table), reads(x),
                           options.norm ? reads(options.norm->weight) : unused(x),
                           options.gate ? reads(options.gate) : unused(x), options.bias ? bias() : unused(x)},
                .written = options.add_to ? updates(out) : writes(out),
                .outputs = outputs,
                .work = 2.0 * static_cast<double>(x.rows * p.topk) * part.rows * static_cast<double>(x.cols),
                .tiled = tiled});
}

template <class Api>
void SharedOps<Api>::project_stretches(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y,
                                       int64_t most, bool tiled) {
  for (int64_t row = 0; row < x.rows; row += most) {
    const int64_t count = std::min(most, x.rows - row);
    Projection some = projection;
    if (some.options.gate) some.options.gate = some.options.gate.row_range(row, count);
    project_rows(x.row_range(row, count), part, some, y.row_range(row, count), tiled);
  }
}

template <class Api>
Tensor SharedOps<Api>::linear(Tensor x, const Weight& weight, const Linear& options) {
  const auto& w = Kinds::weight(weight);
  assert(x.cols == w.in && w.experts == 1);
  const Tensor y = options.add_to ? options.add_to : api().scratch(x.rows, w.out);
  assert(y.rows == x.rows && y.cols == w.out);
  for (const Part& part : w.parts) api().project(x, part, {.options = options}, y);
  return y;
}

// The two halves of the SwiGLU are one part if they share a layout; otherwise a separate kernel combines them.
template <class Api>
Tensor SharedOps<Api>::gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) {
  const auto& w = Kinds::weight(gate_and_up);
  assert(x.cols == w.in && w.out % 2 == 0);
  const Tensor y = api().scratch(x.rows, w.out / 2);
  if (w.parts.size() == 1) {
    api().project(x, w.parts[0], {.options = {.norm = norm}, .swiglu = true}, y);
    return y;
  }
  const Tensor both = linear(x, gate_and_up, {.norm = norm});
  row_op(RowOp::swiglu, both.columns(0, y.cols), both.columns(y.cols, y.cols), y, both.stride);
  return y;
}

}  // namespace longhand::gpu
