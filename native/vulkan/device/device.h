// The GPU: where buffers, pipelines and command buffers come from.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ops/backend.h"
#include "vulkan/device/loader.h"

namespace longhand::vulkan {

class VulkanBuffer;
using VulkanBufferPtr = std::shared_ptr<VulkanBuffer>;

// The bindings of a kernel, at most.
constexpr uint32_t most_arguments = 10;

// What a device can do, as far as the kernels ask.
struct Limits {
  bool unified = false;  // device memory is memory of the CPU: buffers are mapped, nothing is staged
  // Threads of a subgroup, 4 to 64: what the driver takes by itself, or LONGHAND_VULKAN_SUBGROUP where it allows that.
  uint32_t subgroup = 0;
  bool fixed_subgroup = false;    // a pipeline may ask for this size and for full subgroups
  bool push_descriptors = false;  // bindings are recorded with the dispatch, no descriptor set is made
  uint32_t group = 0;             // threads of a workgroup, at most
  uint32_t shared_bytes = 0;      // memory that a workgroup shares, at most
  uint64_t range = 0;             // bytes of a binding, and of a buffer
  uint64_t alignment = 0;         // of a binding's offset
  double tick = 0;                // seconds between two values of a timestamp; 0: the queue has none
  uint32_t tick_bits = 0;         // of a timestamp that count
  // Variants of kernels for the fast path. LONGHAND_VULKAN_VARIANTS, a list of "dot" and "half" (or empty), takes what
  // of it the device has, instead of what it is said to be good at.
  bool integer_dot = false;  // four products of bytes an instruction
  bool half = false;         // arithmetic in f16

  // Bytes that one binding holds wherever they begin, with what a kernel may read beyond them.
  uint64_t fit() const { return range - std::min(range, alignment + 32); }
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  // The `index`-th device of this machine, the best first. Null and a reason where there is none, or it lacks
  // something.
  static std::shared_ptr<Device> open(int index, std::string& reason);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceInfo info() const;
  // Names the device and its driver: compiled pipelines are only good for the same two.
  std::string identity() const;
  const Limits& limits() const { return limits_; }
  // A multiple of the subgroup that covers `wanted` threads, as far as the device allows and kernels do (256).
  uint32_t threads_for(uint64_t wanted) const;

  enum class Place : uint8_t {
    device,  // the GPU's own; on unified memory mapped
    host     // always mapped: what the CPU writes or reads a pass by
  };
  // Not zeroed. Throws OutOfMemory.
  VulkanBufferPtr allocate(size_t bytes, Place place);

  const DeviceFunctions call;
  VkDevice handle() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t queue_family() const { return queue_family_; }
  // Throws DeviceError (OutOfMemory) when a call failed; what the device was doing is lost with it.
  void check(VkResult result, const char* what) const;

 private:
  Device(const Instance& instance, VkPhysicalDevice physical, VkDevice device, uint32_t queue_family);
  int32_t memory_type(uint32_t allowed, Place place) const;

  const Instance& instance_;
  VkPhysicalDevice physical_;
  VkDevice device_;
  VkQueue queue_ = nullptr;
  uint32_t queue_family_;
  VkPhysicalDeviceMemoryProperties memory_{};
  Limits limits_;
};

}  // namespace longhand::vulkan
