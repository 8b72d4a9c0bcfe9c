#include "metal/pipelines/pipeline_warmup.h"

#include <cassert>
#include <exception>

namespace longhand::metal {

PipelineWarmup::~PipelineWarmup() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void PipelineWarmup::note(const PipelineSpec& spec) {
  if (known_.insert(key_of(spec)).second) wanted_.push_back(spec);
}

void PipelineWarmup::start(std::function<void(size_t done, size_t total)> told, std::function<void()> then) {
  assert(!thread_.joinable());
  in_flight_ = true;
  thread_ = std::thread([this, told = std::move(told), then = std::move(then)] {
    compile(told);
    pipelines_.save();
    in_flight_ = false;
    if (!stop_) then();
  });
}

void PipelineWarmup::compile(const std::function<void(size_t done, size_t total)>& told) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    told(i, wanted_.size());
    if (stop_) return;
    try {
      pipelines_.get(wanted_[i]);
    } catch (const std::exception&) {
      continue;
    }
  }
  told(wanted_.size(), wanted_.size());
}

}  // namespace longhand::metal
