// What the tuner times: the ops that a choice is about, on zeroed memory of a back end of their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "metal/backend.h"

namespace longhand::metal {

class Workloads {
 public:
  // Throws DeviceError, and OutOfMemory where there is no room beside the model.
  explicit Workloads(const Tuning& tuning);
  ~Workloads();

  // Seconds of the GPU's clock for the work of choices()[question].
  double run(const Tuning& tuning, size_t question);

 private:
  double matvec();
  double matmul();
  double attention(const std::vector<KvCache>& caches);
  double delta_step();
  double delta();

  template <class Work>
  double seconds(const Work& work);
  BufferPtr floats(int64_t count) { return backend_.allocate(static_cast<size_t>(count) * sizeof(float)); }

  MetalBackend backend_;
  std::vector<WeightPtr> matrices_;
  std::vector<KvCache> caches_, long_caches_;
  BufferPtr zeros_;  // what every op reads
  GatedDelta delta_;
  std::vector<ConvState> windows_;
  std::vector<RecurrentState> states_;
};

}  // namespace longhand::metal
