// The ops whose host side is the same on every GPU, written once. `Api` is a back end that derives from SharedOps<Api>:
// `Traits<Api>` names its types and kernels, and the class itself launches them:
//
//   run(kernel, constants, arguments, params, grid)
//   elements(cols, rows, threads), groups(cols, rows, threads)    grids of about so many threads
//   upload(from, bytes), token_list(ids)
//   run_rms_norm, run_layer_norm, run_rows, run_conv              kernels whose arguments are a back end's own
//   launch(projection), run_expert_down                           products of matrices: threads and tiles are tuned
//   run_stack(parts, places, y, params, grid), most_bound()       rows of several timelines; bytes of one binding
//   first_bound_row(length)                                       of a cache that rows are appended to
//   compress(cache, kernel, stride, wanted, means, length)        means of windows of keys, up to `wanted` of them
//   tiles_for, expert_down_tiled                                  with Traits::tiles_experts
//
// attention, mla, chunks, gated_delta, gla, sparse attention and sample differ in more than that and stay with their
// back end.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <span>

#include "gpu/argument.h"
#include "ops/backend.h"
#include "ops/kernel_args.h"

namespace longhand::gpu {

template <class Api>
struct Traits;

// The slots of a pass grouped by expert: group_by_expert of moe.metal.
struct ExpertTiles {
  const Buffer* ids = nullptr;  // of the routes it was made for
  size_t ids_offset = 0;
  Tensor order{}, tiles{};  // int32, ExpertTile in the place of fp32
  uint32_t count = 0;
};

// What a projection adds to Linear: the form of the SwiGLU front half, and expert choice.
struct Projection {
  Linear options{};
  bool swiglu = false;
  const Routes* routes = nullptr;
  const ExpertTiles* tiles = nullptr;  // of the routes, when many rows are read at once
  uint32_t topk = 1;                   // slots that share a row of x
};

// One part of a matrix, ready to be launched: y[:, part.first ..] = W_part x with everything around it.
template <class Api>
struct ProjectionLaunch {
  const typename Traits<Api>::Part& part;
  const Projection& projection;
  const Tensor& x;
  typename Traits<Api>::Constants constants;
  params::LinearParams params;
  std::array<Argument, 6> inputs;  // W, its table, x, norm, gate, bias
  Argument written;
  uint32_t outputs;
  double work;
  bool tiled;  // many rows are read at once

  size_t slots() const { return projection.routes ? static_cast<size_t>(x.rows * projection.routes->topk) : 1; }
  Argument ids() const {
    const Routes* routes = projection.routes;
    return routes ? part_of(*routes->ids, routes->ids_offset, slots() * 4, Access::read) : unused(x);
  }
};

// Row by row: y = x; y = silu(x) * z; the gates of x [heads * (query | gate)]; y += sigmoid(z) * x.
enum class RowOp : uint8_t { copy, swiglu, gather_gates, add_scaled };

template <class Api>
class SharedOps : public Backend {
 public:
  bool fuses_norms() const override { return true; }
  uint64_t expert_bytes_read() const override { return expert_bytes_read_; }

  // embed.h, norm.h
  Tensor embed(std::span<const int32_t> ids, const Weight& table, float scale) override;
  Tensor concat(Tensor a, Tensor b) override;
  Tensor rms_norm(Tensor x, const Norm& norm) override;
  Tensor layer_norm(Tensor x, const LayerNorm& norm, Tensor add) override;

  // linear.h
  Tensor linear(Tensor x, const Weight& weight, const Linear& options) override;
  Tensor gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) override;

  // stack.h
  Tensor stack(std::span<const Tensor> parts) override;

  // rope.h
  Tensor qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                            KvCache& cache) override;
  void qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) override;
  Tensor gate_columns(Tensor p, const Qkv& qkv) override;

  // short_conv.h
  Tensor conv_silu(Tensor p, const Buffer& conv, ConvState& state) override;
  Tensor short_conv(Tensor p, const ShortConv& weights, ConvState& state) override;

  // moe.h
  Routes route(Tensor x, const Norm* norm, const Router& router) override;
  Tensor expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) override;
  void expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) override;
  void add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) override;

  // sparse.h
  void block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) override;

 protected:
  using Kinds = Traits<Api>;
  using Constants = typename Kinds::Constants;
  using Part = typename Kinds::Part;

  // A back end may hide this with one that hands over a stretch of rows at a time.
  void project(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y) {
    project_rows(x, part, projection, y, x.rows > params::kMatvecTokens && (!projection.routes || projection.tiles));
  }
  void project_rows(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y, bool tiled);
  // At most `most` rows at a time, of a matrix that is the same for all.
  void project_stretches(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y, int64_t most,
                         bool tiled);
  Tensor convolve(const Tensor& x, const Buffer& taps, ConvState& state, bool product);
  void row_op(RowOp op, const Tensor& x, const Tensor& z, const Tensor& y, int64_t z_stride);
  // Call before the memory of the gates is reused by the next layer or another pass.
  void forget_gates() { gates_of_ = {}; }

 private:
  Api& api() { return static_cast<Api&>(*this); }
  int64_t stack_bound(std::span<const Tensor> parts, const Argument& bound, const Tensor& y, int64_t first);
  static Constants rope_constants(const Qkv& qkv, const Rope& rope);
  void count_expert_bytes(const Weight& experts, int64_t slots) {
    expert_bytes_read_ += experts.bytes / static_cast<size_t>(experts.experts) * static_cast<size_t>(slots);
  }

  Tensor gates_{}, gates_of_{};                 // written by qk_norm_rope_store, handed out by gate_columns
  std::atomic<uint64_t> expert_bytes_read_{0};  // read by other threads
};

}  // namespace longhand::gpu
