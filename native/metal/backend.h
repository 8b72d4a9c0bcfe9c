// The Metal back end: one class, one file an op family. Ops encode; the GPU works when enough is encoded and at
// finish().
#pragma once

#include <atomic>
#include <cassert>
#include <deque>
#include <map>
#include <memory>

#include "metal/activity.h"
#include "metal/arena.h"
#include "metal/commands.h"
#include "metal/device.h"
#include "metal/memory_pressure.h"
#include "metal/pipeline_warmup.h"
#include "metal/pipelines.h"
#include "metal/tuning.h"
#include "metal/weight.h"
#include "ops/backend.h"
#include "ops/kernel_args.h"

namespace longhand::metal {

class MetalBackend final : public Backend {
 public:
  explicit MetalBackend(std::unique_ptr<Device> device);
  // For the tuner: chosen by hand, and nothing is kept on disk.
  MetalBackend(std::unique_ptr<Device> device, const Tuning& tuning) : MetalBackend(std::move(device), tuning, false) {}
  ~MetalBackend() override;
  // Between two passes.
  void tune(const Tuning& tuning) { tuning_ = tuning; }

  // backend.mm
  DeviceInfo device() const override;
  uint64_t expert_bytes_read() const override { return expert_bytes_read_; }
  void begin(const PassOptions& options) override;
  void finish() override;
  Tensor scratch(int64_t rows, int64_t cols) override { return arena().take(rows, cols); }
  Tensor recycle_except(Tensor x) override;
  void read(float* to, const Tensor& from) override;
  BufferPtr allocate(size_t bytes) override { return device_->allocate(bytes, "memory"); }
  void copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) override;
  void write(Buffer& to, size_t offset, const void* from, size_t bytes) override;
  void read(void* to, Buffer& from, size_t offset, size_t bytes) override;
  void clear(Buffer& buffer) override;

  // weight.mm, embed.mm, norm.mm
  WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                    int64_t experts) override;
  Tensor embed(std::span<const int32_t> ids, const Weight& table, float scale) override;
  Tensor concat(Tensor a, Tensor b) override;
  Tensor rms_norm(Tensor x, const Norm& norm) override;
  Tensor layer_norm(Tensor x, const LayerNorm& norm, Tensor add) override;

  // linear.mm
  Tensor linear(Tensor x, const Weight& weight, const Linear& options) override;
  Tensor gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) override;
  Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) override;

  // rope.mm, attention.mm, mla.mm
  Tensor qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                            KvCache& cache) override;
  void qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) override;
  Tensor gate_columns(Tensor p, const Qkv& qkv) override;
  Tensor attention(Tensor q, const KvCache& cache, const Attention& shape) override;
  Tensor attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) override;
  Tensor mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                       LatentCache& cache) override;

  // gated_delta.mm, gla.mm, short_conv.mm
  Tensor conv_silu(Tensor p, const Buffer& conv, ConvState& state) override;
  Tensor gated_delta(Tensor p, const GatedDelta& weights, ConvState& conv, RecurrentState& state) override;
  Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) override;
  void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor short_conv(Tensor p, const ShortConv& weights, ConvState& state) override;

  // sparse.mm
  void block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) override;
  BlockList block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape, int64_t first_position,
                         int64_t total) override;
  Tensor block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) override;

  // moe.mm
  Routes route(Tensor x, const Norm* norm, const Router& router) override;
  Tensor expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) override;
  void expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) override;
  void add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) override;

  // sample.mm
  Sampled sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                 std::span<const TokenBias> biases) override;
  void guess(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
             std::span<const TokenBias> biases, bool after_guess) override;

  // async_decode.mm
  bool decodes_async() const override { return true; }
  void submit() override;
  int32_t await_guess() override;
  void discard() override;
  double device_seconds() const override { return commands_.gpu_seconds(); }

  bool profile() override { return commands_.profile(); }
  std::map<std::string, KernelTime> kernel_times() const override { return commands_.kernel_times(); }
  void on_memory_pressure(std::function<void(bool critical)> told) override {
    pressure_ = std::make_unique<Pressure>(std::move(told));
  }
  void release_caches() override;

  bool compiles_lazily() const override { return true; }
  void compile_pending(std::function<void(size_t done, size_t total)> told) override;

 private:
  MetalBackend(std::unique_ptr<Device> device, const Tuning& tuning, bool keeps);
  struct Borrowed {
    std::weak_ptr<MetalBuffer> buffer;
    size_t offset = 0;
  };
  // The slots of a pass grouped by expert: group_by_expert of moe.metal.
  struct ExpertTiles {
    const Buffer* ids = nullptr;  // of the routes it was made for
    size_t ids_offset = 0;
    Tensor order{}, tiles{};  // int32, ExpertTile in the place of fp32
    uint32_t count = 0;
  };
  // What a projection adds to Linear: the form of the SwiGLU front half, and expert choice.
  struct Projection {
    Linear options;
    bool swiglu = false;
    const Routes* routes = nullptr;
    const ExpertTiles* tiles = nullptr;  // of the routes, when many rows are read at once
    uint32_t topk = 1;                   // slots that share a row of x
  };

  template <class Params>
  void run(const Kernel& kernel, const Constants& constants, std::initializer_list<Argument> arguments,
           const Params& params, const Grid& grid) {
    if (pass_.cancel && pass_.cancel->load(std::memory_order_relaxed)) cancelled();
    if (pass_.warmup) warmup_.note({kernel, constants, grid.threads_in_group()});
    else commands_.run(kernel, constants, arguments, params, grid);
  }
  [[noreturn]] void cancelled();
  void keep_pipelines() {
    if (!warmup_.running()) pipelines_.save();
  }
  // Before the CPU touches memory: nothing may be running but passes handed over, whose memory is not that of the
  // oldest.
  void settle() {
    if (commands_.busy() && in_flight_.empty()) commands_.finish();
  }
  Arena& arena() { return arenas_[turn_]; }
  Tensor guess_of(size_t turn) const { return {guesses_.get(), 4 * turn, 1, 1, 1}; }
  Tensor upload_pairs(std::vector<std::pair<int32_t, int32_t>> pairs);
  Tensor upload(const void* from, size_t bytes);  // ids, positions: the same list again is not written again
  MetalBufferPtr mapping(std::span<const std::byte> file, std::span<const std::byte> wanted,
                         const std::shared_ptr<const void>& keep_alive, const std::byte*& first);
  Part make_part(std::span<const WeightView> views, int64_t experts, int64_t group, int64_t first, int64_t count,
                 const std::shared_ptr<const void>& keep_alive, bool& copied);
  void project(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y);
  const ExpertTiles& tiles_of(const Routes& routes, int64_t experts);
  // Linear attention of many tokens, chunk.mm. `gates` [tokens, b | a] and what follows: the delta rule only.
  struct Chunked {
    Tensor q, k, v;
    int64_t key_heads, heads, key_dim, value_dim;
    float scale;
    const Buffer* decay;  // logarithms a head; slopes with GLA
    Tensor gates{};
    const Buffer* dt_bias = nullptr;
    float l2_eps = 0;
    bool tiled = false;
  };
  static bool fits_chunks(int64_t key_dim, int64_t value_dim);
  Tensor delta_in_chunks(const Tensor& p, const Tensor& qkv, const GatedDelta& weights, RecurrentState& state);
  Tensor in_chunks(const Chunked& chunked, RecurrentState& state);
  Tensor convolve(const Tensor& x, const Buffer& taps, ConvState& state, bool product);
  void attend(const Tensor& q, const Argument& keys, const Argument& values, const char* layout,
              const params::AttentionParams& params, const Constants& constants, int64_t keys_seen,
              const Argument& blocks, const Tensor& o);
  void intra_chunk_into(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape,
                        const RecurrentState& state, const Tensor& o);
  void compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted, Buffer& means, int64_t& length);

  std::unique_ptr<Device> device_;
  Tuning tuning_;
  Pipelines pipelines_;
  Activity activity_;
  PipelineWarmup warmup_;
  Commands commands_;
  // Passes take turns, so that one can be encoded while the other runs and its results are read.
  struct InFlight {
    uint64_t ticket;  // of its last command buffer
    size_t turn;
  };
  Arena arenas_[2];
  bool trim_[2] = {};  // given back when the turn comes round again
  size_t turn_ = 0;
  std::deque<InFlight> in_flight_;  // handed over, oldest first
  MetalBufferPtr guesses_;          // int32, one a turn, 16 bytes apart
  PassOptions pass_{};
  std::map<std::pair<const std::byte*, size_t>, Borrowed> mappings_;  // by stretch of a file
  std::vector<std::byte> uploaded_;  // what upload() wrote last in this pass, and where
  Tensor uploaded_to_{};
  Tensor gates_{}, gates_of_{};                 // written by qk_norm_rope_store, handed out by gate_columns
  ExpertTiles expert_tiles_{};                  // gate_up and down of a layer share them
  std::atomic<uint64_t> expert_bytes_read_{0};  // asked for from other threads
  std::unique_ptr<Pressure> pressure_;
};

// ---- arguments: what a kernel touches of a tensor or a buffer -------------------------------------------------------

inline Argument part_of(Buffer& buffer, size_t offset, size_t bytes, Access access) {
  return {&metal_buffer(buffer), offset, bytes, access};
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
inline Argument writes(Buffer& buffer) { return part_of(buffer, 0, buffer.bytes(), Access::write); }
// Where an op leaves a state, and what it does when it is encoded: native/ops/memory.h.
inline Buffer& slot_after(const BufferPtr& current, const BufferPtr& other) { return other ? *other : *current; }
inline void change_slots(BufferPtr& current, BufferPtr& other) {
  if (other) std::swap(current, other);
}
// An argument the kernel is compiled not to look at: something must be bound.
inline Argument unused(const Tensor& t) { return part_of(*t.buffer, t.offset * sizeof(float), 0, Access::read); }

}  // namespace longhand::metal
