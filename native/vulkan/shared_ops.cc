// The ops of native/gpu on Vulkan, and the kernels whose arguments are Vulkan's own.
#include "gpu/embed.h"
#include "gpu/linear.h"
#include "gpu/moe.h"
#include "gpu/norm.h"
#include "gpu/rope.h"
#include "gpu/short_conv.h"
#include "gpu/sparse.h"
#include "gpu/stack.h"
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

void VulkanBackend::run_stack(const Argument& parts, const Tensor& places, const Tensor& y, const params::RowsParams& p,
                              const Grid& grid) {
  run("copy", Constants().set(kCopyKind, shared::kStackRows), {parts, reads(places), writes(y)}, p, grid);
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

}  // namespace longhand::vulkan

namespace longhand {
template class gpu::SharedOps<vulkan::VulkanBackend>;
}
