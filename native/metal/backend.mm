#include "metal/backend.h"

#include <algorithm>
#include <cstring>

#include "metal/objects.h"

namespace longhand::metal {

MetalBackend::MetalBackend(std::unique_ptr<Device> device)
    : device_(std::move(device)), pipelines_(*device_), commands_(*device_, pipelines_), arena_(*device_) {}
MetalBackend::~MetalBackend() { commands_.abandon(); }

void MetalBackend::begin(const PassOptions& options) {
  commands_.abandon();  // what a cancelled or failed pass left behind
  pass_ = options;
  gates_of_ = {};
  arena_.recycle();
}

void MetalBackend::finish() {
  pass_.cancel = nullptr;
  commands_.finish();
  pipelines_.save();
}

void MetalBackend::cancelled() {
  commands_.abandon();
  throw Cancelled{};
}

Tensor MetalBackend::upload(const void* from, size_t bytes) {
  const Tensor to = scratch(1, static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float)));
  std::memcpy(to.buffer->host() + to.offset * sizeof(float), from, bytes);
  return to;
}

void MetalBackend::read(float* to, const Tensor& from) {
  if (commands_.busy()) commands_.finish();
  const auto* first = reinterpret_cast<const float*>(from.buffer->host()) + from.offset;
  for (int64_t i = 0; i < from.rows; ++i)
    std::memcpy(to + i * from.cols, first + i * from.stride, static_cast<size_t>(from.cols) * sizeof(float));
}

// Memory is shared: with nothing running the CPU moves bytes itself; inside a pass a copy takes its place among the
// ops.
void MetalBackend::copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) {
  assert(to_offset + bytes <= to.bytes() && from_offset + bytes <= from.bytes());
  const bool words = (to_offset | from_offset | bytes) % 4 == 0;
  if (commands_.busy() && !words) commands_.finish();
  if (!commands_.busy()) {
    std::memmove(to.host() + to_offset, from.host() + from_offset, bytes);
    return;
  }
  commands_.run(Kernel{"copy", "copy_words"}, Constants{},
                {part_of(from, from_offset, bytes, Access::read), part_of(to, to_offset, bytes, Access::write)},
                params::CopyParams{.bytes = bytes}, elements(bytes / 4));
}

void MetalBackend::clear(Buffer& buffer) {
  if (commands_.busy() && buffer.bytes() % 4 != 0) commands_.finish();
  if (!commands_.busy()) {
    std::memset(buffer.host(), 0, buffer.bytes());
    return;
  }
  commands_.run(Kernel{"copy", "clear_words"}, Constants{}, {part_of(buffer, 0, buffer.bytes(), Access::write)},
                params::CopyParams{.bytes = buffer.bytes()}, elements(buffer.bytes() / 4));
}

void MetalBackend::write(Buffer& to, size_t offset, const void* from, size_t bytes) {
  assert(offset + bytes <= to.bytes());
  if (commands_.busy()) commands_.finish();
  std::memcpy(to.host() + offset, from, bytes);
}

void MetalBackend::read(void* to, Buffer& from, size_t offset, size_t bytes) {
  assert(offset + bytes <= from.bytes());
  if (commands_.busy()) commands_.finish();
  std::memcpy(to, from.host() + offset, bytes);
}

Tensor Arena::take(int64_t rows, int64_t cols) {
  assert(rows >= 0 && cols >= 0);
  constexpr size_t line = 128, first_chunk = size_t{1} << 20;
  const size_t bytes = (static_cast<size_t>(rows * cols) * sizeof(float) + line - 1) / line * line;
  if (chunks_.empty() || used_ + bytes > chunks_.back()->bytes()) {
    chunks_.push_back(device_.allocate(std::max({bytes, first_chunk, total_}), "arena"));
    used_ = 0;
  }
  const Tensor tensor{chunks_.back().get(), used_ / sizeof(float), rows, cols, cols};
  used_ += bytes;
  total_ += bytes;
  return tensor;
}

void Arena::recycle() {
  if (chunks_.size() > 1) {
    chunks_.clear();
    chunks_.push_back(device_.allocate(total_, "arena"));
  }
  used_ = 0;
  total_ = 0;
}

}  // namespace longhand::metal

namespace longhand {

Creation create_metal([[maybe_unused]] bool standin) {
#if !defined(__APPLE__)
  if (!standin) return {nullptr, "Metal needs macOS 14 on Apple silicon; this build has the stand-in of the tests"};
#endif
  std::string reason;
  std::unique_ptr<metal::Device> device = metal::Device::open(reason);
  if (!device) return {nullptr, reason};
  return {std::make_unique<metal::MetalBackend>(std::move(device)), ""};
}

}  // namespace longhand
