// The part of a tensor or buffer that a kernel touches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/tensor.h"

namespace longhand::gpu {

enum class Access : uint8_t { read, write, update };

// A buffer bound to the next index, and the bytes [offset, offset + bytes) of it the kernel may touch.
struct Argument {
  Buffer* buffer;
  size_t offset;
  size_t bytes;
  Access access;
};

inline Argument part_of(Buffer& buffer, size_t offset, size_t bytes, Access access) {
  return {&buffer, offset, bytes, access};
}
inline Argument of(const Tensor& t, Access access) {
  const auto floats = static_cast<size_t>((t.rows - 1) * t.stride + t.cols);
  return part_of(*t.buffer, t.offset * sizeof(float), floats * sizeof(float), access);
}
inline Argument reads(const Tensor& t) { return of(t, Access::read); }
inline Argument writes(const Tensor& t) { return of(t, Access::write); }
inline Argument updates(const Tensor& t) { return of(t, Access::update); }
inline Argument reads(const Buffer& buffer) {
  auto& whole = const_cast<Buffer&>(buffer);
  return part_of(whole, 0, whole.bytes(), Access::read);
}
inline Argument writes(Buffer& buffer) { return part_of(buffer, 0, buffer.bytes(), Access::write); }
inline Argument updates(Buffer& buffer) { return part_of(buffer, 0, buffer.bytes(), Access::update); }
inline Argument reads(const BufferPtr& buffer) { return reads(*buffer); }
// An argument that this variant of the kernel never reads: something must be bound.
inline Argument unused(const Tensor& t) { return part_of(*t.buffer, t.offset * sizeof(float), 0, Access::read); }

}  // namespace longhand::gpu
