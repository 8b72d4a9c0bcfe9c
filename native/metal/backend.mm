#include "metal/backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "metal/device/objects.h"
#include "metal/tuning/tensor_check.h"
#include "metal/tuning/tuner.h"

namespace longhand::metal {

MetalBackend::MetalBackend(std::unique_ptr<Device> device, const Tuning& tuning, bool persistent)
    : device_(std::move(device)),
      tuning_(tuning),
      pipelines_(*device_, persistent),
      warmup_(pipelines_),
      commands_(*device_, pipelines_),
      arenas_{Arena(*device_), Arena(*device_)},
      guesses_(device_->allocate(2 * 16, "guess")) {}
MetalBackend::MetalBackend(std::unique_ptr<Device> device) : MetalBackend(std::move(device), {}, true) {
  tuning_ = tuning_for(*device_);
  if (tuning_.matmul_tensor != 0) refuse_tensor(tensor_refusal(*device_));
}
MetalBackend::~MetalBackend() {
  warmup_.stop();
  activity_.close();
  commands_.abandon();
}

DeviceInfo MetalBackend::device() const {
  DeviceInfo info = device_->info();
  info.tuning = tuning_.origin + ": " + text_of(tuning_);
  if (!tuning_.tensor_refused.empty()) info.tuning += " (no tensor operations: " + tuning_.tensor_refused + ")";
  return info;
}

void MetalBackend::compile_pending(std::function<void(size_t done, size_t total)> told) {
  warmup_.start(std::move(told), [this] {
    if (measures()) metal::tune(activity_);
  });
}

void MetalBackend::begin(const PassOptions& options) {
  if (!options.async) discard();  // left behind by a cancelled or failed pass
  activity_.set(true);
  pass_ = options;
  turn_ = options.async ? 1 - turn_ : 0;
  forget_gates();
  uploaded_to_ = {};
  expert_tiles_ = {};
  if (std::exchange(trim_[turn_], false)) arena().release();
  else arena().recycle();
}

void MetalBackend::release_caches() {
  for (size_t turn = 0; turn < 2; ++turn) {
    const auto running = [turn](const InFlight& each) { return each.turn == turn; };
    trim_[turn] = std::ranges::any_of(in_flight_, running);
    if (!trim_[turn]) arenas_[turn].release();
  }
  pipelines_.forget_libraries();
}

Tensor MetalBackend::recycle_except(Tensor x) {
  forget_gates();
  expert_tiles_ = {};
  arena().recycle_except(x);
  return x;
}

void MetalBackend::finish() {
  pass_.cancel = nullptr;
  commands_.finish();
  activity_.set(false);
  save_pipelines();
}

void MetalBackend::cancelled() {
  commands_.abandon();
  activity_.set(false);
  throw Cancelled{};
}

Tensor MetalBackend::upload(const void* from, size_t bytes) {
  const std::span list(static_cast<const std::byte*>(from), bytes);
  if (uploaded_to_ && std::ranges::equal(uploaded_, list)) return uploaded_to_;
  uploaded_.assign(list.begin(), list.end());
  uploaded_to_ = arena().written(static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float)));
  std::memcpy(uploaded_to_.buffer->host() + uploaded_to_.offset * sizeof(float), from, bytes);
  return uploaded_to_;
}

void MetalBackend::read(float* to, const Tensor& from) {
  settle();
  const auto* first = reinterpret_cast<const float*>(from.buffer->host()) + from.offset;
  for (int64_t i = 0; i < from.rows; ++i)
    std::memcpy(to + i * from.cols, first + i * from.stride, static_cast<size_t>(from.cols) * sizeof(float));
}

// Memory is shared: when nothing is running, the CPU copies; inside a pass, a copy is encoded in order with the
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
  settle();
  std::memcpy(to, from.host() + offset, bytes);
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
