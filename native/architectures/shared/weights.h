// How a family requests its tensors. The same calls check a checkpoint from its headers (without a back end: everything
// missing or misshapen is reported) and load it (the back end prepares each tensor), so the check and the load cannot
// disagree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "architectures/shared/diagnostics.h"
#include "formats/checkpoint.h"
#include "ops/backend.h"

namespace longhand {

struct LoadProgress {
  std::function<void(size_t done, size_t total)> report;
  const std::atomic<bool>* cancel = nullptr;
};

// A tensor's name in this checkpoint, and the number of rows it must have.
struct Rows {
  std::string name;
  int64_t rows = 0;
};

// Names within one layer, in the dialect of the checkpoint: at("mlp.up_proj.weight", "ffn_up.weight").
struct LayerNames {
  std::string prefix;
  bool gguf = false;
  std::string operator()(const std::string& hf, const std::string& in_gguf) const {
    return prefix + (gguf ? in_gguf : hf);
  }
};

class Weights {
 public:
  // `backend` null: check only.
  Weights(std::shared_ptr<const Checkpoint> checkpoint, Lifecycle* backend, Diagnostics& problems,
          LoadProgress progress = {});

  bool gguf() const { return checkpoint_->container() == Container::gguf; }
  const Checkpoint& checkpoint() const { return *checkpoint_; }
  std::shared_ptr<const Checkpoint> shared() const { return checkpoint_; }

  // Names. HF and MLX prefixes ("model.", "model.language_model.", "language_model.model.", "bert.") are detected once.
  std::string top(const char* hf, const char* gguf) const;  // top("norm.weight", "output_norm.weight")
  LayerNames layer(int64_t index) const;
  bool has(const std::string& name) const { return checkpoint_->find(name) != nullptr; }
  // Marks a tensor as used. Returns null and reports it if it is absent, misshapen or of a type that matrices cannot
  // have.
  const WeightView* shaped(const std::string& name, const std::vector<int64_t>& shape);

  // Matrices [out, in]; `rows` stacks several tensors into one projection.
  WeightPtr matrix(const std::string& name, int64_t out, int64_t in);
  WeightPtr rows(const std::vector<Rows>& parts, int64_t in);
  WeightPtr embedding(const std::string& name, int64_t vocabulary, int64_t hidden);
  // Expert stacks [experts, out, in], several stacked along `out`; each token reads `active` experts.
  WeightPtr experts(const std::vector<Rows>& parts, int64_t experts, int64_t active, int64_t in);
  // The same from one tensor per expert: names[expert][part].
  WeightPtr experts(const std::vector<std::vector<Rows>>& parts, int64_t active, int64_t in);
  // Views cut and reordered by a family (permuted or interleaved files); every view must already have `in` columns.
  WeightPtr assembled(const std::vector<WeightView>& views);

  // A matrix of numbers that the family computed.
  WeightPtr owned(std::vector<float> values, int64_t out, int64_t in);

  // fp32 vectors. `norm` adds one if the file stores w and the family multiplies by 1 + w.
  std::vector<float> floats(const std::string& name, const std::vector<int64_t>& shape);
  std::vector<float> floats(const std::string& name, int64_t size) { return floats(name, std::vector<int64_t>{size}); }
  BufferPtr vector(const std::string& name, int64_t size);
  // For ops that read a matrix element by element.
  PlainMatrix plain_matrix(const std::string& name, int64_t out, int64_t in);
  BufferPtr vectors(const std::vector<Rows>& parts);  // concatenated (the biases of a packed projection)
  Norm norm(const std::string& name, int64_t size, double eps, bool add_one = false);
  LayerNorm layer_norm(const std::string& weight, const std::string& bias, int64_t size, double eps);
  // Depthwise taps [channels, width]; HF [C, 1, W], GGUF [C, W], MLX [C, W, 1].
  BufferPtr taps(const std::string& name, int64_t channels, int64_t width);
  BufferPtr constant(const std::vector<float>& values);
  BufferPtr constant(const std::vector<int32_t>& values);

  // For tensors that are loaded on first use and not read for every token: they are only checked now.
  template <class Bind>
  void later(const Bind& bind) {
    Lifecycle* const backend = std::exchange(backend_, nullptr);
    const size_t active = active_bytes_, bytes = bytes_;
    bind();
    backend_ = backend;
    active_bytes_ = active;
    held_bytes_ += bytes_ - bytes;
  }

  // Tensors that this engine knows but does not use: they are not loaded, and a notice names them.
  void leave_out(const char* prefix, const char* notice);
  // Reports every tensor that was not requested: ignoring it would compute a different model.
  void finish();

  size_t bytes() const { return bytes_; }
  size_t active_bytes() const { return active_bytes_; }
  // Bytes after preparation by the back end, plus the stored bytes of tensors that are loaded later. Without a back
  // end: stored bytes only.
  size_t held_bytes() const { return held_bytes_; }

 private:
  WeightPtr prepare(const std::vector<WeightView>& views, double active_share, int64_t experts = 1);
  void advance(size_t bytes);

  std::shared_ptr<const Checkpoint> checkpoint_;
  Lifecycle* backend_;
  Diagnostics& problems_;
  LoadProgress progress_;
  std::string prefix_;
  std::set<std::string, std::less<>> used_;
  std::set<std::string, std::less<>> left_out_;
  size_t bytes_ = 0, active_bytes_ = 0, held_bytes_ = 0, done_ = 0, total_ = 0;
};

}  // namespace longhand
