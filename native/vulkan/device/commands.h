// One pass of work for the GPU: command buffers, ordered inside only where declared reads and writes meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/argument.h"
#include "vulkan/device/buffer.h"
#include "vulkan/device/timestamps.h"
#include "vulkan/pipelines/pipelines.h"

namespace longhand::vulkan {

using gpu::Access;
using gpu::Argument;

struct Grid {
  std::array<size_t, 3> groups;
  uint32_t threads;  // of a workgroup
  double work = 0;   // floating-point operations: long passes are cut into submissions by it
};

class Commands {
 public:
  Commands(std::shared_ptr<Device> device, Pipelines& pipelines);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // Arguments take the bindings 0, 1, ...; push constants are where each begins in its binding, then the parameters.
  template <class Params>
  void run(const char* kernel, const Constants& constants, std::initializer_list<Argument> arguments,
           const Params& params, const Grid& grid) {
    static_assert(sizeof(Params) % 4 == 0);
    dispatch(kernel, constants, arguments, &params, sizeof params, grid);
  }
  void copy(VulkanBuffer& to, size_t to_offset, VulkanBuffer& from, size_t from_offset, size_t bytes);
  void clear(VulkanBuffer& buffer);
  // True when work is recorded or running: memory must not be touched by the CPU.
  bool busy() const { return recording_ || waited_ < submitted_; }
  // Submits what is recorded; returns the mark that the GPU reaches when it is done.
  uint64_t submit();
  // Returns when the GPU has reached a mark. Throws DeviceError when it failed.
  void wait(uint64_t mark);
  // Submits everything and returns when it is done. Throws DeviceError when the GPU failed.
  void finish();
  // Waits for what was submitted and drops what was only recorded (a cancelled or failed pass).
  void abandon() noexcept;
  // From here on every kernel runs alone and is timed; false where the queue has no timestamps.
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
  // Command buffers take turns: one is recorded while the other runs.
  struct Slot {
    VkCommandPool pool{};
    VkCommandBuffer commands{};
    std::vector<VkDescriptorPool> descriptors;  // where a dispatch cannot bring its own
    size_t sets = 0;                            // taken from the pools
    uint64_t value = 0;                         // of the timeline when it is done
    std::unique_ptr<Timestamps> timestamps;
  };

  void dispatch(const char* kernel, const Constants& constants, std::initializer_list<Argument> arguments,
                const void* params, size_t params_bytes, const Grid& grid);
  Argument bound(const Argument& argument) const;
  void bind(const Pipeline& pipeline, VkWriteDescriptorSet* writes, uint32_t count);
  VkDescriptorSet descriptor_set(VkDescriptorSetLayout layout);
  void touch(std::initializer_list<Argument> arguments);
  void touch(const Argument* arguments, size_t count);
  void barrier(VkAccessFlags to, VkPipelineStageFlags stage);
  void open();
  void timed(const char* kernel);

  std::shared_ptr<Device> device_;
  Pipelines& pipelines_;
  std::array<Slot, 2> slots_;
  size_t current_ = 0;
  VkSemaphore timeline_{};
  uint64_t submitted_ = 0, waited_ = 0;
  bool recording_ = false;
  std::vector<Span> touched_;  // since the last barrier
  double work_ = 0;
  double gpu_seconds_ = 0;
  bool profiling_ = false;
  std::map<std::string, KernelTime> kernel_times_;
};

}  // namespace longhand::vulkan
