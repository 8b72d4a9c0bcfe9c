// Bytes in host memory, held by the prompt cache: rows of caches, or states.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace longhand {

class Blob {
 public:
  // Returns null if there is no memory for it; caching is optional.
  static std::shared_ptr<Blob> allocate(size_t bytes) {
    auto* memory = static_cast<std::byte*>(std::malloc(bytes > 0 ? bytes : 1));
    return memory ? std::shared_ptr<Blob>(new Blob(memory, bytes)) : nullptr;
  }
  ~Blob() { std::free(memory_); }
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;

  std::byte* data() { return memory_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {memory_, size_}; }

 private:
  Blob(std::byte* memory, size_t size) : memory_(memory), size_(size) {}
  std::byte* memory_;
  size_t size_;
};
using BlobPtr = std::shared_ptr<Blob>;

}  // namespace longhand
