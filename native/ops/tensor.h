// Types shared by all back ends and architectures: element types, device memory and views of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace longhand {

// Device memory, owned by the back end that made it. `host()` is the address the CPU can read and write: always there
// on the CPU and on unified memory, null for memory that only a discrete GPU can reach.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t bytes() const = 0;
  virtual std::byte* host() = 0;
};
using BufferPtr = std::shared_ptr<Buffer>;

// Activations: fp32, [rows, cols], row-major. `stride` is the distance between rows in elements, so that a view on some
// columns of a packed projection (q | k | v | ...) is a Tensor too. A Tensor never owns memory: it is valid until the
// Pass that made it ends.
struct Tensor {
  Buffer* buffer = nullptr;
  size_t offset = 0;  // in elements, from the start of the buffer
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  explicit operator bool() const { return buffer != nullptr; }
  Tensor columns(int64_t first, int64_t count) const { return {buffer, offset + first, rows, count, stride}; }
  Tensor row_range(int64_t first, int64_t count) const {
    return {buffer, offset + static_cast<size_t>(first * stride), count, cols, stride};
  }
  bool contiguous() const { return stride == cols || rows == 1; }
};

// `exact`: fp32 activations everywhere, judged against the golden references. `fast`: a kernel may round activations to
// 8 bits or bf16; judged bit for bit against its own scalar model, and end to end on real models.
enum class Path : uint8_t { exact, fast };

}  // namespace longhand
