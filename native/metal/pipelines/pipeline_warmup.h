// Kernels compiled before they are needed: what a warmup met, in that order, on a thread of its own.
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
  // No kernel is begun any more.
  void stop() { stop_ = true; }

  void note(const PipelineSpec& spec);
  // `told` hears how many of all are ready, from the thread; last of all that everything is. One that does not compile
  // is left to whoever needs it, who gets its error. `then` is what the thread does last, unless it was stopped.
  void start(std::function<void(size_t done, size_t total)> told, std::function<void()> then);
  // While this is so the archive on disk is left to the end.
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
