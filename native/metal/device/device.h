// The GPU: where buffers, pipelines and command buffers come from. No Objective-C in this header.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "metal/device/buffer.h"
#include "ops/backend.h"

namespace longhand::metal {

class Device {
 public:
  // Null and a reason where there is no Metal device that can run the kernels (Apple7 family, macOS 14).
  static std::unique_ptr<Device> open(std::string& reason);
  ~Device();

  DeviceInfo info() const;
  // Apple10 (M5) and later.
  bool has_matrix_units() const;
  // Names the device, its OS build and this program's kernels: files on disk are valid only for the same three.
  std::string identity() const;
  // Zeroed. `label` begins with the class of the buffer ("weights", "memory", "arena"). Throws OutOfMemory.
  MetalBufferPtr allocate(size_t bytes, const char* label);
  // A heap used as one buffer, not zeroed: for memory that is suballocated by offsets. Throws OutOfMemory.
  MetalBufferPtr heap_buffer(size_t bytes, const char* label);
  // The memory as it is, without a copy; page-aligned around [data, data + bytes). Null when the GPU refuses it; throws
  // OutOfMemory when it would be more than the GPU works with at once.
  // `offset` receives where `data` lies in the buffer.
  // The most bytes of a file that one buffer can borrow.
  size_t most_borrowed() const;
  MetalBufferPtr borrow(const std::byte* data, size_t bytes, std::shared_ptr<const void> keep_alive, size_t& offset);

  struct Objects;  // objects.h
  Objects& objects() { return *objects_; }

 private:
  explicit Device(std::unique_ptr<Objects> objects);
  void check_room(size_t bytes) const;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
