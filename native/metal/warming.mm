#include "metal/warming.h"

#include <cassert>
#include <exception>

namespace longhand::metal {

Warming::~Warming() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Warming::note(const Kernel& kernel, const Constants& constants) {
  if (known_.insert(key_of(kernel, constants)).second) wanted_.emplace_back(kernel, constants);
}

void Warming::start(std::function<void(size_t done, size_t total)> told, std::function<void()> then) {
  assert(!thread_.joinable());
  under_way_ = true;
  thread_ = std::thread([this, told = std::move(told), then = std::move(then)] {
    compile(told);
    pipelines_.save();
    under_way_ = false;
    if (!stop_) then();
  });
}

void Warming::compile(const std::function<void(size_t done, size_t total)>& told) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    told(i, wanted_.size());
    if (stop_) return;
    try {
      pipelines_.get(wanted_[i].first, wanted_[i].second);
    } catch (const std::exception&) {
      continue;
    }
  }
  told(wanted_.size(), wanted_.size());
}

}  // namespace longhand::metal
