// Projections: few rows go to the matvec (bound by the bytes of W), many to the tiled matmul (bound by arithmetic).
#include <algorithm>
#include <bit>

#include "vulkan/backend.h"

namespace longhand::vulkan {

using namespace params;

namespace {
constexpr uint32_t matvec_threads = 64;
constexpr int64_t most_short_tiles = 96;  // tokens; above, taller tiles still make workgroups enough
constexpr uint32_t dot_threads = 256;     // share the rounding of x

bool holds_integers(uint32_t layout) {
  return layout == shared::kLayoutAffine || (layout >= shared::kLayoutQ4_0 && layout <= shared::kLayoutIq4Xs);
}
}  // namespace

// One part of a matrix: y[:, part.first ..] = W_part x with everything around it. As many rows of x at a time as fit
// into bindings (the scores of every token over a large vocabulary may not).
void VulkanBackend::project(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y) {
  const bool tiled = x.rows > kMatvecTokens && !projection.routes;
  const int64_t stride = std::max({x.stride, y.stride, projection.options.gate.stride});
  const int64_t fitting = rows_in_binding(stride * static_cast<int64_t>(sizeof(float)));
  if (projection.routes || x.rows <= fitting) {
    project_rows(x, part, projection, y, tiled);
    return;
  }
  const int64_t tile = shared::kMatmulTokens, most = fitting < tile ? fitting : fitting / tile * tile;
  for (int64_t row = 0; row < x.rows; row += most) {
    const int64_t count = std::min(most, x.rows - row);
    Projection some = projection;
    if (some.options.gate) some.options.gate = some.options.gate.row_range(row, count);
    project_rows(x.row_range(row, count), part, some, y.row_range(row, count), tiled);
  }
}

void VulkanBackend::project_rows(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y,
                                 bool tiled) {
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
      .set(kScaleType, part.scale_type)
      .set(kLayout, part.layout)
      .set(kBits, part.bits);
  LinearParams p{.in = narrow(x.cols),
                 .rows = part.rows,
                 .tokens = narrow(x.rows),
                 .x_stride = narrow(x.stride),
                 .y_stride = narrow(y.stride),
                 .gate_stride = narrow(options.gate.stride),
                 .segments = part.segments,
                 .expert_tables = part.expert_tables,
                 .topk = routes ? narrow(routes->topk) : 1,
                 .eps = options.norm ? options.norm->eps : 0.0f,
                 .scale = options.scale};
  // Parts write columns of their own: bound where they begin, they do not wait for one another.
  const uint32_t first = projection.swiglu ? part.first / 2 : part.first;
  const Tensor out = y.columns(first, outputs);
  const Argument written = options.add_to ? updates(out) : writes(out);
  const auto bias = [&] {
    return part_of(**options.bias, first * sizeof(float), outputs * sizeof(float), Access::read);
  };
  const std::array a{reads(*part.bytes),
                     reads(*part.table),
                     reads(x),
                     options.norm ? reads(options.norm->weight) : unused(x),
                     options.gate ? reads(options.gate) : unused(x),
                     options.bias ? bias() : unused(x)};
  const double work = 2.0 * static_cast<double>(x.rows) * part.rows * static_cast<double>(x.cols);
  // Layouts of integers meet activations of 8 bits on the fast path, where the device has the instruction.
  const bool fast = pass_.path == Path::fast,
             dot = fast && device_->limits().integer_dot && holds_integers(part.layout);
  if (tiled) {
    const size_t outputs_a_tile = projection.swiglu ? shared::kMatmulOutputs / 2 : shared::kMatmulOutputs;
    const uint32_t tokens = x.rows < most_short_tiles ? shared::kMatmulTokens / 2 : shared::kMatmulTokens;
    run(fast && device_->limits().half ? "matmul_half" : "matmul", constants.set(kTokens, tokens),
        {a[0], a[1], a[2], a[3], a[4], a[5], written}, p,
        Grid{{(outputs + outputs_a_tile - 1) / outputs_a_tile, (static_cast<size_t>(x.rows) + tokens - 1) / tokens, 1},
             64,
             work});
    return;
  }
  const uint32_t threads = device_->threads_for(dot ? dot_threads : matvec_threads);
  const size_t per_group = static_cast<size_t>(threads / device_->limits().subgroup) *
                           (projection.swiglu ? kRowsPerSimdgroup / 2 : kRowsPerSimdgroup);
  const size_t groups = (outputs + per_group - 1) / per_group;
  const Argument ids =
      routes ? part_of(*routes->ids, routes->ids_offset, static_cast<size_t>(x.rows * routes->topk) * 4, Access::read)
             : unused(x);
  const size_t slots = routes ? static_cast<size_t>(x.rows * routes->topk) : 1;
  // Few kinds of pipelines: 1, 2, 4 or 8 rows.
  constants.set(kTokens, routes ? 1 : std::bit_ceil(narrow(x.rows)));
  run(dot ? "linear_dot" : "linear", constants, {a[0], a[1], a[2], a[3], a[4], a[5], ids, written}, p,
      Grid{{groups, slots, 1}, threads, work});
}

Tensor VulkanBackend::linear(Tensor x, const Weight& weight, const Linear& options) {
  const VulkanWeight& w = vulkan_weight(weight);
  assert(x.cols == w.in && w.experts == 1);
  const Tensor y = options.add_to ? options.add_to : scratch(x.rows, w.out);
  assert(y.rows == x.rows && y.cols == w.out);
  for (const Part& part : w.parts) project(x, part, {.options = options}, y);
  return y;
}

// The two halves of the SwiGLU stand in one part when they share a layout; otherwise they meet in a kernel of their
// own.
Tensor VulkanBackend::gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) {
  const VulkanWeight& w = vulkan_weight(gate_and_up);
  assert(x.cols == w.in && w.out % 2 == 0);
  const Tensor y = scratch(x.rows, w.out / 2);
  if (w.parts.size() == 1) {
    project(x, w.parts[0], {.options = {.norm = norm}, .swiglu = true}, y);
    return y;
  }
  const Tensor both = linear(x, gate_and_up, {.norm = norm});
  copy_rows(shared::kSwigluRows, both.columns(0, y.cols), both.columns(y.cols, y.cols), y, Access::write, both.stride);
  return y;
}

Tensor VulkanBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  const VulkanWeight& w = vulkan_weight(head);
  assert(x.cols == w.in && w.experts == 1);
  const Tensor y = scores_.take(x.rows, w.out);
  for (const Part& part : w.parts) project(x, part, {.options = {.norm = &norm, .scale = scale}}, y);
  return y;
}

}  // namespace longhand::vulkan
