// The Vulkan back end: one class, one file an op family. Ops encode; the GPU works when enough is encoded and at
// finish().
#pragma once

#include <atomic>
#include <cassert>
#include <memory>

#include "gpu/shared_ops.h"
#include "vulkan/device/arena.h"
#include "vulkan/device/commands.h"
#include "vulkan/device/staging.h"
#include "vulkan/pipelines/pipelines.h"
#include "vulkan/traits.h"
#include "vulkan/weight.h"

namespace longhand::vulkan {

using gpu::of;
using gpu::part_of;
using gpu::reads;
using gpu::unused;
using gpu::updates;
using gpu::writes;

class VulkanBackend final : public gpu::SharedOps<VulkanBackend> {
 public:
  explicit VulkanBackend(std::shared_ptr<Device> device);
  ~VulkanBackend() override;

  // backend.cc
  DeviceInfo device() const override { return device_->info(); }
  int64_t grain() const override { return params::kGlaChunk; }  // above kMatvecTokens, and chunks of gla begin alike
  void begin(const PassOptions& options) override;
  void finish() override;
  void discard() override { commands_.abandon(); }
  void release_caches() override;
  Tensor scratch(int64_t rows, int64_t cols) override { return arena_.take(rows, cols); }
  void read(float* to, const Tensor& from) override;
  BufferPtr allocate(size_t bytes) override;
  void copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) override;
  void write(Buffer& to, size_t offset, const void* from, size_t bytes) override;
  void read(void* to, Buffer& from, size_t offset, size_t bytes) override;
  void clear(Buffer& buffer) override;
  double device_seconds() const override { return commands_.gpu_seconds(); }
  bool profile() override { return commands_.profile(); }
  std::map<std::string, KernelTime> kernel_times() const override { return commands_.kernel_times(); }

  // weight.cc
  WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                    int64_t experts) override;

  // linear.cc
  Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) override;

  // attention.cc, mla.cc
  Tensor attention(Tensor q, const KvCache& cache, const Attention& shape) override;
  Tensor attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) override;
  Tensor mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                       LatentCache& cache) override;

  // gated_delta.cc, gla.cc
  Tensor gated_delta(Tensor p, const GatedDelta& weights, ConvState& conv, RecurrentState& state) override;
  Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) override;
  void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;

  // sparse.cc
  BlockList block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape, int64_t first_position,
                         int64_t total) override;
  Tensor block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) override;

  // sample.cc
  Sampled sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                 std::span<const TokenBias> biases) override;

 private:
  friend class gpu::SharedOps<VulkanBackend>;
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
  void project(const Tensor& x, const Part& part, const gpu::Projection& projection, const Tensor& y);
  uint32_t matmul_slices(uint32_t outputs, bool half) const;
  uint32_t dot_threads_for(const gpu::ProjectionLaunch<VulkanBackend>& l) const;
  void launch(const gpu::ProjectionLaunch<VulkanBackend>& l);
  Tensor token_list(std::span<const int32_t> ids) { return upload(ids.data(), ids.size_bytes()); }
  static int64_t first_bound_row(int64_t length) { return length / 2 * 2; }  // rows of an even number begin at a word
  void run_rms_norm(const Tensor& x, const Norm& norm, const Tensor& y, const params::NormParams& p);
  void run_layer_norm(Constants constants, std::initializer_list<Argument> arguments, const params::NormParams& p,
                      int64_t rows);
  void run_rows(gpu::RowOp op, const Tensor& x, const Tensor& z, const Tensor& y, const params::RowsParams& p,
                const Grid& grid);
  void run_conv(const Constants& constants, const Tensor& x, const Buffer& taps, ConvState& state, const Tensor& y,
                const params::ConvParams& p, const Grid& grid);
  size_t most_bound() const { return device_->limits().fit(); }
  void run_stack(const Argument& parts, const Tensor& places, const Tensor& y, const params::RowsParams& p,
                 const Grid& grid);
  void run_expert_down(Constants constants, const Part& part, std::initializer_list<Argument> arguments,
                       const params::ExpertDownParams& p, size_t tokens);
  // Rows of `row_floats` each, at most `rows`, that are worked on together: bounded by a binding and by memory.
  int64_t rows_at_once(int64_t row_floats, int64_t rows) const;
  SplitKeys split(int64_t keys, int64_t keys_in_binding, int64_t at_once, int64_t rows, int64_t row_floats) const;
  void attend(const Tensor& q, const Argument& keys, const Argument& values, const params::AttentionParams& params,
              const Constants& constants, int64_t keys_seen, const Argument& blocks, const Tensor& o);
  void intra_chunk_into(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape,
                        const RecurrentState& state, const Tensor& o);
  // Scratch memory of block selection, and the windows of compressed keys that a step has bound.
  struct Selection {
    Tensor scores, pooled, ranks, normalisers;
  };
  struct KeyWindows {
    int64_t first1, end1, first2, end2;
  };
  // Scores that a token is chosen from, in memory of the CPU, and the peak and sum of each of their tiles.
  struct Scored {
    Tensor scores, tiles;
  };
  Tensor look_through(const Tensor& x);
  bool is_scored(const Tensor& row) const;
  void select_step(const Tensor& q, const CompressedKeys& compressed, const BlockSparse& shape, int64_t first_position,
                   uint32_t steps, const KeyWindows& bound, const Selection& at, const Tensor& list);
  void compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted, Buffer& means, int64_t& length);

  std::shared_ptr<Device> device_;
  Pipelines pipelines_;
  Commands commands_;
  Staging staging_;
  Arena arena_;
  Arena uploads_;  // written by the CPU: ids, positions
  Arena scores_;   // what it reads after every token: kernels write it where no copy has to follow
  Scored scored_;  // of the last pass
  PassOptions pass_{};
  std::vector<float> row_;  // of logits, while a token is chosen
};

}  // namespace longhand::vulkan

namespace longhand {
extern template class gpu::SharedOps<vulkan::VulkanBackend>;
}
