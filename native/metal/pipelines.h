// Kernels ready to run: compiled from source once a process, kept on disk from one start to the next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "metal/device.h"
#include "ops/params.h"

namespace longhand::metal {

// A function of metal/<file>.metal. `layout`: the struct a template file is compiled for, "" for a plain file.
struct Kernel {
  const char* file;
  const char* name;
  const char* layout = "";
};

// Values of every function constant of ops/params.h; what is not set is 0 or false.
class Constants {
 public:
  Constants& set(params::ConstantIndex index, uint32_t value) {
    values_[index] = value;
    return *this;
  }
  const auto& values() const { return values_; }

 private:
  std::array<uint32_t, params::kGreedy + 1> values_{};
};

class Pipelines {
 public:
  explicit Pipelines(Device& device);
  ~Pipelines();

  // id<MTLComputePipelineState>, owned here. Throws DeviceError when the kernel does not compile.
  void* get(const Kernel& kernel, const Constants& constants);
  // Writes what was compiled since the last time. A folder that cannot be written costs time at the next start, not
  // more.
  void save();

 private:
  struct Objects;
  Device& device_;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
