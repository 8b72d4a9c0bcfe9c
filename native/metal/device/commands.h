// One pass of work for the GPU: a concurrent encoder, ordered only where declared reads and writes conflict.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

#include "gpu/argument.h"
#include "metal/device/buffer.h"
#include "metal/device/device.h"
#include "metal/pipelines/pipelines.h"

namespace longhand::metal {

using gpu::Access;
using gpu::Argument;

struct Grid {
  std::array<size_t, 3> groups;
  std::array<size_t, 3> threads;  // of a threadgroup
  size_t threadgroup_bytes = 0;   // dynamic threadgroup memory, index 0
  double work = 0;                // floating-point operations: long passes are cut into command buffers by it

  size_t threads_in_group() const { return threads[0] * threads[1] * threads[2]; }
};

class Commands {
 public:
  Commands(Device& device, Pipelines& pipelines);
  ~Commands();

  // Arguments take the indices 0, 1, ...; the parameters come after them.
  template <class Params>
  void run(const Kernel& kernel, const Constants& constants, std::initializer_list<Argument> arguments,
           const Params& params, const Grid& grid) {
    dispatch(kernel, constants, arguments, &params, sizeof params, grid);
  }
  // True when work is encoded or running: memory must not be touched by the CPU.
  bool busy() const;
  // Submits everything and returns when it is done. Throws DeviceError when the GPU failed.
  void finish();
  // Submits everything. The ticket is for `await`.
  uint64_t submit();
  // Returns when everything up to the ticket is done. Throws DeviceError when the GPU failed.
  void await(uint64_t ticket);
  // Waits for what was submitted and drops what was only encoded (a cancelled or failed pass).
  void abandon();
  // From here on every dispatch is timed; false where the GPU gives no samples.
  bool profile();
  const std::map<std::string, KernelTime>& kernel_times() const { return kernel_times_; }
  // Seconds the GPU worked, since the start.
  double gpu_seconds() const { return gpu_seconds_; }

 private:
  struct Span {
    const Buffer* buffer;
    size_t low, high;
    bool writes;
  };
  struct Objects;

  void dispatch(const Kernel& kernel, const Constants& constants, std::initializer_list<Argument> arguments,
                const void* params, size_t params_bytes, const Grid& grid);
  bool collides(const Argument& argument) const;
  void open();
  void open_encoder(const char* kernel);
  void commit();
  void retire();              // the oldest command buffer, which is waited for
  void wait(size_t allowed);  // until at most `allowed` command buffers are running
  void end_capture();

  Device& device_;
  Pipelines& pipelines_;
  std::unique_ptr<Objects> objects_;
  std::vector<Span> touched_;  // since the last barrier
  double work_ = 0;
  double gpu_seconds_ = 0;
  uint64_t committed_ = 0;  // command buffers submitted since the start
  bool capturing_ = false, profiling_ = false;
  std::map<std::string, KernelTime> kernel_times_;
};

}  // namespace longhand::metal
