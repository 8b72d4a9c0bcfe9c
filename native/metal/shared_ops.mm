// The ops of native/gpu on Metal, and the kernels whose arguments are Metal's own.
#include "gpu/embed.h"
#include "gpu/linear.h"
#include "gpu/moe.h"
#include "gpu/norm.h"
#include "gpu/rope.h"
#include "gpu/short_conv.h"
#include "gpu/sparse.h"
#include "gpu/stack.h"
#include "metal/backend.h"

namespace longhand::metal {

// A token that the previous pass is still choosing is read from the slot it will be written to.
Tensor MetalBackend::token_list(std::span<const int32_t> ids) {
  const bool guessed = ids.size() == 1 && ids[0] == guessed_token;
  return guessed ? guess_of(1 - turn_) : upload(ids.data(), ids.size_bytes());
}

void MetalBackend::run_rms_norm(const Tensor& x, const Norm& norm, const Tensor& y, const params::NormParams& p) {
  run(Kernel{"norm", "rms_norm"}, Constants{}, {reads(x), reads(norm.weight), writes(y)}, p,
      groups(static_cast<size_t>(x.rows), 1, 32));
}

void MetalBackend::run_layer_norm(const Constants& constants, std::initializer_list<Argument> arguments,
                                  const params::NormParams& p, int64_t rows) {
  run(Kernel{"norm", "layer_norm"}, constants, arguments, p, groups(static_cast<size_t>(rows), 1, 32));
}

void MetalBackend::run_rows(gpu::RowOp op, const Tensor& x, const Tensor& z, const Tensor& y,
                            const params::RowsParams& p, const Grid& grid) {
  using enum gpu::RowOp;
  switch (op) {
    case copy: run(Kernel{"copy", "copy_rows"}, Constants{}, {reads(x), writes(y)}, p, grid); break;
    case swiglu: run(Kernel{"copy", "swiglu"}, Constants{}, {reads(x), reads(z), writes(y)}, p, grid); break;
    case gather_gates: run(Kernel{"copy", "gather_gates"}, Constants{}, {reads(x), writes(y)}, p, grid); break;
    case add_scaled:
      run(Kernel{"copy", "add_scaled_rows"}, Constants{}, {reads(z), reads(x), updates(y)}, p, grid);
      break;
  }
}

void MetalBackend::run_stack(const Argument& parts, const Tensor& places, const Tensor& y, const params::RowsParams& p,
                             const Grid& grid) {
  run(Kernel{"copy", "stack_rows"}, Constants{}, {parts, reads(places), writes(y)}, p, grid);
}

void MetalBackend::run_conv(const Constants& constants, const Tensor& x, const Buffer& taps, ConvState& state,
                            const Tensor& y, const params::ConvParams& p, const Grid& grid) {
  run(Kernel{"short_conv", "short_conv"}, constants,
      {reads(x), reads(taps), reads(state.window), writes(slot_after(state.window, state.other)), writes(y)}, p, grid);
  change_slots(state.window, state.other);
}

}  // namespace longhand::metal

namespace longhand {
template class gpu::SharedOps<metal::MetalBackend>;
}
