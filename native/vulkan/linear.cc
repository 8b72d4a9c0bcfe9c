// How projections are launched: see gpu/linear.h.
#include <algorithm>
#include <bit>

#include "vulkan/backend.h"

namespace longhand::vulkan {

using namespace params;

namespace {
constexpr uint32_t matvec_threads = 64;
constexpr int64_t most_short_tiles = 96;  // tokens; above, taller tiles still make workgroups enough
constexpr uint32_t dot_threads = 256, least_dot_threads = 64;
constexpr uint32_t sliced_outputs = 4096;
constexpr size_t wanted_dot_groups = 128;

bool holds_integers(uint32_t layout) {
  return layout == shared::kLayoutAffine || (layout >= shared::kLayoutQ4_0 && layout <= shared::kLayoutIq4Xs);
}
}  // namespace

// As many rows of x at a time as fit into bindings (the scores of every token over a large vocabulary may not). Rows of
// separate timelines go to the matvec, however many they are: alone each would too.
void VulkanBackend::project(const Tensor& x, const Part& part, const gpu::Projection& projection, const Tensor& y) {
  if (projection.routes) {
    SharedOps::project(x, part, projection, y);
    return;
  }
  const bool tiled = x.rows > kMatvecTokens && !pass_.separate;
  const int64_t stride = std::max({x.stride, y.stride, projection.options.gate.stride});
  const int64_t fitting = rows_in_binding(stride * static_cast<int64_t>(sizeof(float)));
  const int64_t tile = tiled ? int64_t{shared::kMatmulTokens} : int64_t{kMatvecTokens};
  const int64_t whole = fitting < tile ? fitting : fitting / tile * tile, most = tiled ? whole : std::min(whole, tile);
  project_stretches(x, part, projection, y, most, tiled);
}

// As many slices of a tile (matmul.glsl) as a narrow matrix needs for workgroups enough, and as fit into the memory and
// the threads of a workgroup. The same for any number of tokens, whose sums are the same then.
uint32_t VulkanBackend::matmul_slices(uint32_t outputs, bool half) const {
  const uint32_t bytes = half ? 8192 : 12288;  // a slice's, rounded up
  uint32_t slices = 1;
  while (2 * slices * outputs <= sliced_outputs && 2 * slices * bytes <= device_->limits().shared_bytes &&
         128 * slices <= device_->limits().group)
    slices *= 2;
  return slices;
}

// Threads that share the rounding of x, fewer where there would be few workgroups. Subgroups are alike whatever their
// number, and so are the sums.
uint32_t VulkanBackend::dot_threads_for(const gpu::ProjectionLaunch<VulkanBackend>& l) const {
  const uint32_t subgroup = device_->limits().subgroup,
                 rows = l.projection.swiglu ? kRowsPerSimdgroup / 2 : kRowsPerSimdgroup;
  uint32_t threads = dot_threads;
  while (threads > least_dot_threads && l.outputs * l.slots() / (threads / subgroup * rows) < wanted_dot_groups)
    threads /= 2;
  return device_->threads_for(threads);
}

void VulkanBackend::launch(const gpu::ProjectionLaunch<VulkanBackend>& l) {
  const auto& [w, table, x, norm, gate, bias] = l.inputs;
  const bool swiglu = l.projection.swiglu;
  const auto tokens = static_cast<size_t>(l.x.rows);
  Constants constants = l.constants;
  constants.set(kLayout, l.part.layout).set(kBits, l.part.bits);
  // Layouts of integers meet activations of 8 bits on the fast path, where the device has the instruction.
  const bool fast = pass_.path == Path::fast,
             dot = fast && device_->limits().integer_dot && holds_integers(l.part.layout);
  if (l.tiled) {
    const size_t outputs = swiglu ? shared::kMatmulOutputs / 2 : shared::kMatmulOutputs;
    const uint32_t rows = l.x.rows < most_short_tiles ? shared::kMatmulTokens / 2 : shared::kMatmulTokens;
    const bool half = fast && device_->limits().half;
    const uint32_t slices = matmul_slices(l.outputs, half);
    run(half ? "matmul_half" : "matmul", constants.set(kTokens, rows).set(kSlices, slices),
        {w, table, x, norm, gate, bias, l.written}, l.params,
        Grid{{(l.outputs + outputs - 1) / outputs, (tokens + rows - 1) / rows, 1}, 64 * slices, l.work});
    return;
  }
  const uint32_t threads = dot ? dot_threads_for(l) : device_->threads_for(matvec_threads);
  const size_t per_group =
      static_cast<size_t>(threads / device_->limits().subgroup) * (swiglu ? kRowsPerSimdgroup / 2 : kRowsPerSimdgroup);
  // Few kinds of pipelines: 1, 2, 4 or 8 rows.
  constants.set(kTokens, l.projection.routes ? 1 : std::bit_ceil(narrow(l.x.rows)));
  run(dot ? "linear_dot" : "linear", constants, {w, table, x, norm, gate, bias, l.ids(), l.written}, l.params,
      Grid{{(l.outputs + per_group - 1) / per_group, l.slots(), 1}, threads, l.work});
}

// Rows that a token is chosen from are looked through on the way to the CPU: sample.cc.
Tensor VulkanBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  const VulkanWeight& w = vulkan_weight(head);
  assert(x.cols == w.in && w.experts == 1);
  const bool chosen_from = x.rows == 1 || pass_.separate;
  const Tensor y = chosen_from ? scratch(x.rows, w.out) : scores_.take(x.rows, w.out);
  for (const Part& part : w.parts) project(x, part, {.options = {.norm = &norm, .scale = scale}}, y);
  return chosen_from ? look_through(y) : y;
}

}  // namespace longhand::vulkan
