// Memory the GPU uses, kept wired between command buffers (macOS 15; before, the system does as it likes and the first
// token after a pause pays for it).
#pragma once

#include <memory>

namespace longhand::metal {

class Residency {
 public:
  // `device`, `queue`: id<MTLDevice>, id<MTLCommandQueue>.
  Residency(void* device, void* queue);
  ~Residency();
  // Keeps `allocation` (id<MTLAllocation>) wired, and what it needs alive, for the lifetime of the result. Any thread.
  static std::shared_ptr<const void> hold(const std::shared_ptr<Residency>& set, void* allocation,
                                          std::shared_ptr<const void> needs);
  // Call before submitting a command buffer: applies additions and removals since the last call.
  void settle();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
