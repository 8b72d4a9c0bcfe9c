// The Vulkan back end: one class, one file an op family. Ops encode; the GPU works when enough is encoded and at
// finish().
#pragma once

#include <atomic>
#include <cassert>
#include <memory>

#include "ops/backend.h"
#include "ops/kernel_args.h"
#include "vulkan/arena.h"
#include "vulkan/commands.h"
#include "vulkan/pipelines.h"
#include "vulkan/staging.h"
#include "vulkan/weight.h"

namespace longhand::vulkan {

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(std::shared_ptr<Device> device);
  ~VulkanBackend() override;

  // backend.cc
  DeviceInfo device() const override { return device_->info(); }
  uint64_t expert_bytes_read() const override { return expert_bytes_read_; }
  void begin(const PassOptions& options) override;
  void finish() override;
  Tensor scratch(int64_t rows, int64_t cols) override { return arena_.take(rows, cols); }
  void read(float* to, const Tensor& from) override;
  BufferPtr allocate(size_t bytes) override;
  void copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) override;
  void write(Buffer& to, size_t offset, const void* from, size_t bytes) override;
  void read(void* to, Buffer& from, size_t offset, size_t bytes) override;
  void clear(Buffer& buffer) override;

  // weight.cc, embed.cc, norm.cc
  WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                    int64_t experts) override;
  Tensor embed(std::span<const int32_t> ids, const Weight& table, float scale) override;
  Tensor concat(Tensor a, Tensor b) override;
  Tensor rms_norm(Tensor x, const Norm& norm) override;
  Tensor layer_norm(Tensor x, const LayerNorm& norm, Tensor add) override;

  // linear.cc
  Tensor linear(Tensor x, const Weight& weight, const Linear& options) override;
  Tensor gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) override;
  Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) override;

  // rope.cc, attention.cc, mla.cc
  Tensor qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                            KvCache& cache) override;
  void qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) override;
  Tensor gate_columns(Tensor p, const Qkv& qkv) override;
  Tensor attention(Tensor q, const KvCache& cache, const Attention& shape) override;
  Tensor attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) override;
  Tensor mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                       LatentCache& cache) override;

  // gated_delta.cc, gla.cc, short_conv.cc
  Tensor conv_silu(Tensor p, const Buffer& conv, ConvState& state) override;
  Tensor gated_delta(Tensor p, const GatedDelta& weights, ConvState& conv, RecurrentState& state) override;
  Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) override;
  void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor short_conv(Tensor p, const ShortConv& weights, ConvState& state) override;

  // sparse.cc
  void block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) override;
  BlockList block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape, int64_t first_position,
                         int64_t total) override;
  Tensor block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) override;

  // moe.cc
  Routes route(Tensor x, const Norm* norm, const Router& router) override;
  Tensor expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) override;
  void expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) override;
  void add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) override;

  // sample.cc
  Sampled sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                 std::span<const TokenBias> biases) override;

 private:
  // What a projection adds to Linear: the form of the SwiGLU front half, and expert choice.
  struct Projection {
    Linear options;
    bool swiglu = false;
    const Routes* routes = nullptr;
  };
  // A walk over keys in parts that are merged at the end: they run beside one another, and each fits into a binding.
  struct SplitKeys {
    int64_t keys;      // of a part
    int64_t parts;     // 1: nothing to merge
    int64_t a_window;  // parts whose keys share a binding
    int64_t rows;      // query rows whose parts are kept at once
  };

  template <class Params>
  void run(const char* kernel, const Constants& constants, std::initializer_list<Argument> arguments,
           const Params& params, const Grid& grid) {
    if (pass_.cancel && pass_.cancel->load(std::memory_order_relaxed)) cancelled();
    commands_.run(kernel, constants, arguments, params, grid);
  }
  // As many workgroups of about `threads` as cover cols x rows elements.
  Grid elements(size_t cols, size_t rows, uint32_t threads) const {
    const uint32_t whole = device_->threads_for(threads);
    return {{(cols + whole - 1) / whole, rows, 1}, whole};
  }
  // A workgroup of about `threads` for each of cols x rows.
  Grid groups(size_t cols, size_t rows, uint32_t threads) const {
    return {{cols, rows, 1}, device_->threads_for(threads)};
  }
  // Rows of `bytes` each that one binding holds; an even number, since every other row begins at a word.
  int64_t rows_in_binding(int64_t bytes) const {
    return std::max<int64_t>(static_cast<int64_t>(device_->limits().fit()) / bytes / 2 * 2, 2);
  }
  [[noreturn]] void cancelled();
  Tensor upload(const void* from, size_t bytes);  // into the arena: ids, positions
  // Bytes into a buffer nothing is running on; gathered, so that staging_.flush() ends a row of them.
  void place(VulkanBuffer& to, size_t offset, const void* from, size_t bytes);
  void fill(VulkanWeight& weight, std::span<const WeightView> views, int64_t experts);
  Part make_part(const std::vector<Slice>& slices, int64_t experts);
  void project(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y);
  Tensor convolve(const Tensor& x, const Buffer& taps, ConvState& state, bool product);
  void project_rows(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y, bool tiled);
  // Rows of `row_floats` each, at most `rows`, that are worked on together: bounded by a binding and by memory.
  int64_t rows_at_once(int64_t row_floats, int64_t rows) const;
  SplitKeys split(int64_t keys, int64_t keys_in_binding, int64_t at_once, int64_t rows, int64_t row_floats) const;
  void attend(const Tensor& q, const Argument& keys, const Argument& values, const params::AttentionParams& params,
              const Constants& constants, int64_t keys_seen, const Argument& blocks, const Tensor& o);
  void copy_rows(uint32_t kind, const Tensor& x, const Tensor& z, const Tensor& y, Access access, int64_t z_stride);
  void intra_chunk_into(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape,
                        const RecurrentState& state, const Tensor& o);
  // What choosing blocks keeps in device memory, and the windows of compressed keys that a step has bound.
  struct Selection {
    Tensor scores, pooled, ranks, normalisers;
  };
  struct KeyWindows {
    int64_t first1, end1, first2, end2;
  };
  void select_step(const Tensor& q, const CompressedKeys& compressed, const BlockSparse& shape, int64_t first_position,
                   uint32_t steps, const KeyWindows& bound, const Selection& at, const Tensor& list);
  void compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted, Buffer& means, int64_t& length);

  std::shared_ptr<Device> device_;
  Pipelines pipelines_;
  Commands commands_;
  Staging staging_;
  Arena arena_;
  Arena uploads_;  // what the CPU hands over: ids, positions
  Arena scores_;   // what it reads after every token: kernels write it where no copy has to follow
  PassOptions pass_{};
  Tensor gates_{}, gates_of_{};                 // written by qk_norm_rope_store, handed out by gate_columns
  std::atomic<uint64_t> expert_bytes_read_{0};  // asked for from other threads
};

// ---- arguments: what a kernel touches of a tensor or a buffer -------------------------------------------------------

inline Argument part_of(Buffer& buffer, size_t offset, size_t bytes, Access access) {
  return {&vulkan_buffer(buffer), offset, bytes, access};
}
inline Argument of(const Tensor& t, Access access) {
  const auto floats = static_cast<size_t>((t.rows - 1) * t.stride + t.cols);
  return part_of(*t.buffer, t.offset * sizeof(float), floats * sizeof(float), access);
}
inline Argument reads(const Tensor& t) { return of(t, Access::read); }
inline Argument writes(const Tensor& t) { return of(t, Access::write); }
inline Argument updates(const Tensor& t) { return of(t, Access::update); }
inline Argument reads(const Buffer& buffer) {
  auto& whole = const_cast<Buffer&>(buffer);
  return part_of(whole, 0, whole.bytes(), Access::read);
}
inline Argument updates(Buffer& buffer) { return part_of(buffer, 0, buffer.bytes(), Access::update); }
inline Argument reads(const BufferPtr& buffer) { return reads(*buffer); }
// An argument the kernel is compiled not to look at: something must be bound.
inline Argument unused(const Tensor& t) { return part_of(*t.buffer, t.offset * sizeof(float), 0, Access::read); }

}  // namespace longhand::vulkan
