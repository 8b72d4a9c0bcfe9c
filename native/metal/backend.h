// The Metal back end: one class, one file an op family. Ops encode; the GPU works when enough is encoded and at
// finish().
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <deque>
#include <limits>
#include <map>
#include <memory>

#include "gpu/shared_ops.h"
#include "metal/device/activity.h"
#include "metal/device/arena.h"
#include "metal/device/commands.h"
#include "metal/device/device.h"
#include "metal/device/memory_pressure.h"
#include "metal/pipelines/pipeline_warmup.h"
#include "metal/pipelines/pipelines.h"
#include "metal/traits.h"
#include "metal/tuning/tuning.h"
#include "metal/weight.h"

namespace longhand::metal {

using gpu::of;
using gpu::part_of;
using gpu::reads;
using gpu::unused;
using gpu::updates;
using gpu::writes;

class MetalBackend final : public gpu::SharedOps<MetalBackend> {
 public:
  explicit MetalBackend(std::unique_ptr<Device> device);
  // For the tuner: with an explicit tuning, and nothing is stored on disk.
  MetalBackend(std::unique_ptr<Device> device, const Tuning& tuning) : MetalBackend(std::move(device), tuning, false) {}
  ~MetalBackend() override;
  // Call between two passes.
  void tune(const Tuning& tuning) { tuning_ = tuning; }
  const Tuning& tuning() const { return tuning_; }

  // backend.mm
  DeviceInfo device() const override;
  int64_t grain() const override { return params::kGlaChunk; }  // chunks of linear attention and tiles of rows
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

  // weight.mm
  WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                    int64_t experts) override;

  // linear.mm
  Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) override;

  // attention.mm, mla.mm
  Tensor attention(Tensor q, const KvCache& cache, const Attention& shape) override;
  Tensor attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) override;
  Tensor mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                       LatentCache& cache) override;

  // gated_delta.mm, gla.mm
  Tensor gated_delta(Tensor p, const GatedDelta& weights, ConvState& conv, RecurrentState& state) override;
  Tensor gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) override;
  void gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;
  Tensor gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) override;

  // sparse.mm
  BlockList block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape, int64_t first_position,
                         int64_t total) override;
  Tensor block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) override;

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
  friend class gpu::SharedOps<MetalBackend>;
  MetalBackend(std::unique_ptr<Device> device, const Tuning& tuning, bool persistent);
  struct Borrowed {
    std::weak_ptr<MetalBuffer> buffer;
    size_t offset = 0;
  };
  using ExpertTiles = gpu::ExpertTiles;

  template <class Params>
  void run(const Kernel& kernel, const Constants& constants, std::initializer_list<Argument> arguments,
           const Params& params, const Grid& grid) {
    if (pass_.cancel && pass_.cancel->load(std::memory_order_relaxed)) cancelled();
    if (pass_.warmup) warmup_.note({kernel, constants, grid.threads_in_group()});
    else commands_.run(kernel, constants, arguments, params, grid);
  }
  [[noreturn]] void cancelled();
  void save_pipelines() {
    if (!warmup_.running()) pipelines_.save();
  }
  // Call before the CPU touches memory: nothing may be running but submitted passes, whose memory is not that of the
  // oldest.
  void settle() {
    if (commands_.busy() && in_flight_.empty()) commands_.finish();
  }
  Arena& arena() { return arenas_[turn_]; }
  Tensor guess_of(size_t turn) const { return {guesses_.get(), 4 * turn, 1, 1, 1}; }
  Tensor upload_pairs(std::vector<std::pair<int32_t, int32_t>> pairs);
  Tensor upload(const void* from, size_t bytes);  // ids, positions: an unchanged list is not uploaded again
  MetalBufferPtr mapping(std::span<const std::byte> file, std::span<const std::byte> wanted,
                         const std::shared_ptr<const void>& keep_alive, const std::byte*& first);
  Part make_part(std::span<const WeightView> views, int64_t experts, int64_t group, int64_t first, int64_t count,
                 const std::shared_ptr<const void>& keep_alive, bool& copied);
  // As many threadgroups of `threads` as cover cols x rows elements.
  static Grid elements(size_t cols, size_t rows = 1, size_t threads = 256) {
    return {{(cols + threads - 1) / threads, rows, 1}, {threads, 1, 1}};
  }
  static Grid groups(size_t cols, size_t rows, size_t threads) { return {{cols, rows, 1}, {threads, 1, 1}}; }
  Tensor token_list(std::span<const int32_t> ids);
  static int64_t first_bound_row(int64_t) { return 0; }
  // Of the pass that a prompt reads: rows of the running part of it are `rows`.
  int64_t whole_of(int64_t rows) const { return std::max(rows, pass_.whole); }
  void project(const Tensor& x, const Part& part, const gpu::Projection& projection, const Tensor& y);
  void launch(const gpu::ProjectionLaunch<MetalBackend>& l);
  void launch_tiled(const gpu::ProjectionLaunch<MetalBackend>& l);
  // Prompts are multiplied by the normal kernels from here on. Nothing for an empty reason.
  void refuse_tensor(const std::string& reason);
  bool launch_tensor(const gpu::ProjectionLaunch<MetalBackend>& l);
  struct PackedRows {
    Tensor rows, scales;  // halves; a factor a row
  };
  PackedRows pack(const gpu::ProjectionLaunch<MetalBackend>& l, int64_t columns);  // of a tile
  void run_rms_norm(const Tensor& x, const Norm& norm, const Tensor& y, const params::NormParams& p);
  void run_layer_norm(const Constants& constants, std::initializer_list<Argument> arguments,
                      const params::NormParams& p, int64_t rows);
  void run_rows(gpu::RowOp op, const Tensor& x, const Tensor& z, const Tensor& y, const params::RowsParams& p,
                const Grid& grid);
  static size_t most_bound() { return std::numeric_limits<size_t>::max(); }
  void run_stack(const Argument& parts, const Tensor& places, const Tensor& y, const params::RowsParams& p,
                 const Grid& grid);
  void run_conv(const Constants& constants, const Tensor& x, const Buffer& taps, ConvState& state, const Tensor& y,
                const params::ConvParams& p, const Grid& grid);
  bool grouped(const Routes& routes, int64_t experts) const;
  const ExpertTiles* tiles_for(const Routes& routes, int64_t experts);  // null: too few rows an expert
  void expert_down_tiled(const Tensor& h, const MetalWeight& w, const Routes& routes, const ExpertTiles& tiles,
                         const Tensor& add_to);
  void run_expert_down(Constants constants, const Part& part, std::initializer_list<Argument> arguments,
                       const params::ExpertDownParams& p, size_t tokens);
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
  bool fits_tiles(const params::AttentionParams& p, const Constants& shape, int64_t keys_seen) const;
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
  // Two passes alternate, so that one can be encoded while the other runs and its results are read.
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
  ExpertTiles expert_tiles_{};  // gate_up and down of a layer share them
  std::unique_ptr<Pressure> pressure_;
};

// The slot an op writes a state to, and the swap when it is encoded: native/ops/memory.h.
inline Buffer& slot_after(const BufferPtr& current, const BufferPtr& other) { return other ? *other : *current; }
inline void change_slots(BufferPtr& current, BufferPtr& other) {
  if (other) std::swap(current, other);
}

}  // namespace longhand::metal

namespace longhand {
extern template class gpu::SharedOps<metal::MetalBackend>;
}
