#include "vulkan/device/timestamps.h"

namespace longhand::vulkan {
namespace {

constexpr uint32_t most_stamps = 512;

}  // namespace

Timestamps::Timestamps(std::shared_ptr<Device> device) : device_(std::move(device)) {
  if (device_->limits().tick == 0) return;
  const VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = most_stamps};
  device_->check(device_->call.CreateQueryPool(device_->handle(), &info, nullptr, &pool_), "timestamps");
}

Timestamps::~Timestamps() {
  if (pool_) device_->call.DestroyQueryPool(device_->handle(), pool_, nullptr);
}

// Written when everything before it is done.
void Timestamps::write(VkCommandBuffer commands) {
  device_->call.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, written_++);
}

void Timestamps::begin(VkCommandBuffer commands) {
  names_.clear();
  written_ = 0;
  if (!pool_) return;
  device_->call.CmdResetQueryPool(commands, pool_, 0, most_stamps);
  write(commands);
}

void Timestamps::mark(VkCommandBuffer commands, const char* name) {
  if (!pool_) return;
  write(commands);
  names_.push_back(name);
}

bool Timestamps::full() const { return written_ + 1 >= most_stamps; }

void Timestamps::end(VkCommandBuffer commands) {
  if (pool_) write(commands);
}

void Timestamps::add_to(double& seconds, std::map<std::string, KernelTime>& times) {
  if (written_ < 2) return;
  std::vector<uint64_t> ticks(written_);
  const VkResult result =
      device_->call.GetQueryPoolResults(device_->handle(), pool_, 0, written_, ticks.size() * sizeof(uint64_t),
                                        ticks.data(), sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
  written_ = 0;
  if (result != VK_SUCCESS) return;  // a lost device has none
  const Limits& limits = device_->limits();
  const uint64_t counted = limits.tick_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << limits.tick_bits) - 1;
  const auto between = [&](size_t from, size_t to) {
    return limits.tick * static_cast<double>((ticks[to] - ticks[from]) & counted);
  };
  seconds += between(0, ticks.size() - 1);
  for (size_t i = 0; i < names_.size(); ++i) {
    KernelTime& time = times[names_[i]];
    time.count += 1;
    time.seconds += between(i, i + 1);
  }
}

}  // namespace longhand::vulkan
