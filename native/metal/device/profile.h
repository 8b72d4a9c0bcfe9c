// What each kernel costs by the GPU's own clock: Apple's GPUs take samples between encoders only, so that every
// dispatch gets an encoder of its own, and what runs side by side otherwise runs in turn.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "metal/device/device.h"

namespace longhand::metal {

// The samples of one command buffer.
class Samples {
 public:
  // Null where the GPU takes none.
  static std::unique_ptr<Samples> make(Device& device);
  ~Samples();

  bool full() const;
  // id<MTLComputeCommandEncoder> in this id<MTLCommandBuffer>, for one dispatch of `kernel`.
  void* encoder(void* commands, const char* kernel);
  // When the command buffer is done.
  void add_to(std::map<std::string, KernelTime>& times) const;

 private:
  Samples() = default;
  struct Objects;
  std::unique_ptr<Objects> objects_;
  std::vector<const char*> kernels_;
};

}  // namespace longhand::metal
