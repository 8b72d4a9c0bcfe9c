// Device memory as plain C++ sees it: the MTLBuffer is behind an opaque handle.
#pragma once

#include <memory>

#include "ops/tensor.h"

namespace longhand::metal {

// Shared storage: the CPU and the GPU read and write the same bytes.
class MetalBuffer final : public Buffer {
 public:
  // Takes over one reference to the MTLBuffer. `keep_alive` holds memory that the buffer only borrows.
  MetalBuffer(void* retained, std::byte* host, size_t bytes, std::shared_ptr<const void> keep_alive);
  ~MetalBuffer() override;
  MetalBuffer(const MetalBuffer&) = delete;
  MetalBuffer& operator=(const MetalBuffer&) = delete;

  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return host_; }
  void* handle() const { return handle_; }  // id<MTLBuffer>

 private:
  void* handle_;
  std::byte* host_;
  size_t bytes_;
  std::shared_ptr<const void> keep_alive_;
};
using MetalBufferPtr = std::shared_ptr<MetalBuffer>;

inline MetalBuffer& metal_buffer(Buffer& buffer) { return static_cast<MetalBuffer&>(buffer); }

}  // namespace longhand::metal
