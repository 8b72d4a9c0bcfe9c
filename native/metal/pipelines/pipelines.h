// Kernels ready to run: compiled from source once a process, kept on disk from one start to the next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "metal/device/device.h"
#include "metal/pipelines/archive.h"
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
  std::array<uint32_t, params::kConstantCount> values_{};
};

// The key of a pipeline. `threads`: size of its threadgroups. Without it a pipeline may allow as few as 384 threads
// on an M1, depending on the registers its kernel needs; with it the compiler keeps within the limit.
struct PipelineSpec {
  Kernel kernel;
  Constants constants;
  size_t threads;
};
// A word for each.
std::string key_of(const PipelineSpec& spec);

// All pipelines of a device. Any thread: while one compiles a kernel, the others get theirs.
class Pipelines {
 public:
  // `persistent`: saved on disk, for the next start.
  Pipelines(Device& device, bool persistent);
  ~Pipelines();

  // id<MTLComputePipelineState>, owned here. Throws DeviceError when the kernel does not compile.
  void* get(const PipelineSpec& spec);
  // Frees the libraries that pipelines were made from; they are recompiled when another pipeline is needed.
  void forget_libraries();
  // Saves what was compiled since the last time.
  void save() {
    if (persistent_) archive_.save();
  }

 private:
  struct Objects;

  Device& device_;
  bool persistent_;
  Archive archive_;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
