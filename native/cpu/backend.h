// The CPU back end: one class, one file an op family. Every op runs when it is called, on all threads of the pool.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu/arena.h"
#include "cpu/kernels/kernels.h"
#include "cpu/matmul.h"
#include "cpu/threads/threads.h"
#include "cpu/weights/packed_cache.h"
#include "cpu/weights/weight.h"
#include "ops/backend.h"

namespace longhand::cpu {

// Every buffer here is a HostBuffer: its address is read without a virtual call, since inner loops read it.
inline float* floats(Buffer& buffer) { return reinterpret_cast<float*>(static_cast<HostBuffer&>(buffer).host()); }
inline const float* floats(const BufferPtr& buffer) { return buffer ? floats(*buffer) : nullptr; }
inline const int32_t* ints(const BufferPtr& buffer) { return reinterpret_cast<const int32_t*>(buffer->host()); }
inline float* data(const Tensor& t) { return floats(*t.buffer) + t.offset; }
inline float* row(const Tensor& t, int64_t i) { return data(t) + i * t.stride; }

class CpuBackend : public Backend {
 public:
  CpuBackend(const Kernels& kernels, const CpuOptions& options);

  // backend.cc
  DeviceInfo device() const override;
  void set_threads(int count) override { wanted_threads_ = count; }
  uint64_t expert_bytes_read() const override { return expert_bytes_read_; }
  uint64_t scratch_bytes() const override { return arena_.peak_bytes(); }
  bool rehearses() const override { return rehearses_; }
  void reserve_scratch(size_t bytes) override { arena_.reserve(bytes); }
  void release_caches() override { arena_.release(); }
  void begin(const PassOptions& options) override;
  void finish() override;
  Tensor scratch(int64_t rows, int64_t cols) override;
  void read(float* to, const Tensor& from) override;
  Tensor recycle_except(Tensor x) override { return arena_.recycle_except(x); }

  // memory.cc
  BufferPtr allocate(size_t bytes) override;
  void copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) override;
  void write(Buffer& to, size_t offset, const void* from, size_t bytes) override;
  void read(void* to, Buffer& from, size_t offset, size_t bytes) override;
  void clear(Buffer& buffer) override;

  // weight.cc, embed.cc, norm.cc
  WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                    int64_t experts) override;
  void prepared() override;
  PackedCacheStatus packed_cache_status() const override;
  Tensor embed(std::span<const int32_t> ids, const Weight& table, float scale) override;
  Tensor stack(std::span<const Tensor> parts) override;
  Tensor concat(Tensor a, Tensor b) override;
  Tensor rms_norm(Tensor x, const Norm& norm) override;
  Tensor layer_norm(Tensor x, const LayerNorm& norm, Tensor add) override;

  // linear.cc, activations.cc
  Tensor linear(Tensor x, const Weight& weight, const Linear& options) override;
  Tensor gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) override;
  Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) override;

  // rope.cc, attention/
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
  Tensor gated_delta_each(Tensor p, const GatedDelta& weights, std::span<const DeltaMemory> memories) override;
  Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) override;
  void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor short_conv(Tensor p, const ShortConv& weights, ConvState& state) override;

  // attention/sparse.cc
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

 protected:
  // Runs task(i) for i in [0, count) on the pool; throws Cancelled when the pass was cancelled meanwhile.
  template <class Task>
  void parallel(int64_t count, const Task& task) {
    check_cancelled();
    if (!rehearses_) threads_.run(count, task, pass_.cancel);
    check_cancelled();
  }

  const Kernels& kernels_;

 private:
  void check_cancelled() const;
  // x with contiguous rows, normalised when `norm` is given.
  Tensor normalised(Tensor x, const Norm* norm);
  // Whether an op on `tokens` tokens belongs to the reading of a prompt, whose arithmetic is faster than that of
  // answers: a matter of the whole pass, so that its parts agree, and never of tokens that have to come out as they
  // would alone.
  bool reads(int64_t tokens) const;
  // One token of conv_silu for each row of p, whose memory is memories[i].
  Tensor convolve_each(Tensor p, const Buffer& conv, std::span<const DeltaMemory> memories);
  // Whether it multiplies numbers rounded to bf16.
  bool rounds_activations(int64_t tokens) const;
  // x (contiguous) in the forms that the segments of `weight` multiply on this pass's path; with `order` its rows
  // order[0], order[1], ... in their place.
  Activations activations(Tensor x, const CpuWeight& weight, int64_t tokens, std::span<const int64_t> order = {});
  Rounding room_for_rounding(int64_t rows, int64_t cols, bool may_drop);
  Tensor attend_causal_rounded(Tensor q, const KvCache& cache, const Attention& shape);
  // attention_bidirectional in bf16.
  Tensor attend_whole_rounded(Tensor p, const Attention& shape, std::span<const int32_t> lengths);
  // Packs a view that cannot be read in place, or finds it packed; completes `segment`.
  BufferPtr pack(const WeightView& view, Segment& segment);
  BufferPtr pack_anew(const WeightView& view, const Segment& segment, int64_t bytes);
  void pack_rows(const WeightView& view, const Segment& segment, int64_t first, int64_t count, std::byte* memory);

  // cos and sin of the pass's rotary angles: the same for all its layers.
  const float* rope_angles(const Rope& rope, std::span<const int32_t> positions, int64_t tokens);

  const bool rehearses_;
  Arena arena_;
  Threads threads_;
  std::unique_ptr<PackedCache> packed_file_;
  PassOptions pass_{};
  struct Angles {
    const Buffer* inv_freq;
    float scale;
    std::vector<int32_t> positions;
    std::vector<float> values;  // [tokens, cos rotary_dim / 2 | sin rotary_dim / 2]
  };
  std::vector<Angles> angles_;                  // of this pass
  std::atomic<int> wanted_threads_{0};          // takes effect at begin(); 0: unchanged
  std::atomic<uint64_t> expert_bytes_read_{0};  // read by other threads
};

}  // namespace longhand::cpu
