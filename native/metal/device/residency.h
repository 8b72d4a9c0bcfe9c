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
  // What lives as long as the result stays wired: `allocation` (id<MTLAllocation>), of which it keeps a reference, and
  // what it needs. Any thread.
  static std::shared_ptr<const void> hold(const std::shared_ptr<Residency>& set, void* allocation,
                                          std::shared_ptr<const void> needs);
  // Before a command buffer is handed over: what came and went since the last time takes effect.
  void settle();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
