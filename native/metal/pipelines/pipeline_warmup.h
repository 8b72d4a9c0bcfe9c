// Compiles kernels before they are needed, in the order a warmup met them, on a background thread.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "metal/pipelines/pipelines.h"

namespace longhand::metal {

class PipelineWarmup {
 public:
  explicit PipelineWarmup(Pipelines& pipelines) : pipelines_(pipelines) {}
  // Waits for the kernel that is being compiled; what was compiled is kept.
  ~PipelineWarmup();
  // Starts no further kernel.
  void stop() { stop_ = true; }

  void note(const PipelineSpec& spec);
  // Calls `told` on the thread with how many are ready, finally with all. A kernel that does not compile is skipped:
  // the pass that needs it gets the error. `then` runs on the thread at the end, unless it was stopped.
  void start(std::function<void(size_t done, size_t total)> told, std::function<void()> then);
  // While true, the archive is not saved: that is done once at the end.
  bool running() const { return in_flight_.load(); }

 private:
  void compile(const std::function<void(size_t done, size_t total)>& told);

  Pipelines& pipelines_;
  std::vector<PipelineSpec> wanted_;
  std::set<std::string> known_;
  std::atomic<bool> stop_{false}, in_flight_{false};
  std::thread thread_;
};

}  // namespace longhand::metal
