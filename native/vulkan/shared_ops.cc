// The ops of native/gpu on Vulkan, and the kernels whose arguments are Vulkan's own.
#include <algorithm>

#include "gpu/embed.h"
#include "gpu/linear.h"
#include "gpu/moe.h"
#include "gpu/norm.h"
#include "gpu/rope.h"
#include "gpu/short_conv.h"
#include "gpu/sparse.h"
#include "vulkan/backend.h"

namespace longhand::vulkan {

namespace {

constexpr uint32_t norm_row_threads = 128;

uint32_t copy_kind(gpu::RowOp op) {
  switch (op) {
    case gpu::RowOp::swiglu: return shared::kSwigluRows;
    case gpu::RowOp::gather_gates: return shared::kGatherGates;
    case gpu::RowOp::add_scaled: return shared::kAddScaled;
    case gpu::RowOp::copy: break;
  }
  return shared::kCopyRows;
}

// What holds both, which lie in one buffer.
gpu::Argument around(const gpu::Argument& a, const gpu::Argument& b) {
  const size_t begin = std::min(a.offset, b.offset), end = std::max(a.offset + a.bytes, b.offset + b.bytes);
  return {a.buffer, begin, end - begin, a.access};
}

}  // namespace

void VulkanBackend::run_rms_norm(const Tensor& x, const Norm& norm, const Tensor& y, const params::NormParams& p) {
  run("norm", Constants{}, {reads(x), unused(x), reads(norm.weight), unused(x), writes(y)}, p,
      groups(static_cast<size_t>(x.rows), 1, norm_row_threads));
}

void VulkanBackend::run_layer_norm(Constants constants, std::initializer_list<Argument> arguments,
                                   const params::NormParams& p, int64_t rows) {
  run("norm", constants.set(kCentred, 1), arguments, p, groups(static_cast<size_t>(rows), 1, norm_row_threads));
}

void VulkanBackend::run_rows(gpu::RowOp op, const Tensor& x, const Tensor& z, const Tensor& y,
                             const params::RowsParams& p, const Grid& grid) {
  run("copy", Constants().set(kCopyKind, copy_kind(op)),
      {reads(x), z ? reads(z) : unused(x), of(y, op == gpu::RowOp::add_scaled ? Access::update : Access::write)}, p,
      grid);
}

void VulkanBackend::run_conv(const Constants& constants, const Tensor& x, const Buffer& taps, ConvState& state,
                             const Tensor& y, const params::ConvParams& p, const Grid& grid) {
  run("short_conv", constants, {reads(x), reads(taps), updates(*state.window), writes(y)}, p, grid);
}

void VulkanBackend::run_expert_down(Constants constants, const Part& part, std::initializer_list<Argument> arguments,
                                    const params::ExpertDownParams& p, size_t tokens) {
  const uint32_t threads = device_->threads_for(64), subgroups = threads / device_->limits().subgroup;
  constants.set(kLayout, part.layout).set(kBits, part.bits);
  run("expert_down", constants, arguments, p, Grid{{(part.rows + subgroups - 1) / subgroups, tokens, 1}, threads});
}

// One dispatch for all parts that lie in one buffer, near enough for a binding: in a steady state all do.
Tensor VulkanBackend::stack(std::span<const Tensor> parts) {
  int64_t rows = 0;
  for (const Tensor& part : parts) rows += part.rows;
  const Tensor y = scratch(rows, parts.front().cols);
  for (int64_t done = 0; done < rows;) {
    Argument bound = reads(parts.front());
    size_t count = 0;
    for (; count < parts.size() && parts[count].buffer == bound.buffer; ++count) {
      const Argument both = around(bound, reads(parts[count]));
      if (both.bytes > device_->limits().fit()) break;
      bound = both;
    }
    done += stack_bound(parts.first(count), bound, y, done);
    parts = parts.subspan(count);
  }
  return y;
}

// Parts within `bound` into the rows of y from `first` on. Returns how many rows they have.
int64_t VulkanBackend::stack_bound(std::span<const Tensor> parts, const Argument& bound, const Tensor& y,
                                   int64_t first) {
  std::vector<uint32_t> places;
  for (const Tensor& part : parts) {
    assert(part.cols == y.cols);
    for (int64_t row = 0; row < part.rows; ++row)
      places.push_back(narrow(static_cast<int64_t>(part.row_range(row, 1).offset - bound.offset / sizeof(float))));
  }
  const auto rows = static_cast<int64_t>(places.size());
  run("copy", Constants().set(kCopyKind, shared::kStackRows),
      {bound, reads(upload(places.data(), places.size() * sizeof(uint32_t))), writes(y.row_range(first, rows))},
      params::RowsParams{
          .rows = narrow(rows), .cols = narrow(y.cols), .x_stride = 0, .y_stride = narrow(y.stride), .z_stride = 0},
      elements(static_cast<size_t>(y.cols), static_cast<size_t>(rows), 64));
  return rows;
}

}  // namespace longhand::vulkan

namespace longhand {
template class gpu::SharedOps<vulkan::VulkanBackend>;
}
