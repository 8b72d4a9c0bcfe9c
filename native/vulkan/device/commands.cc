#include "vulkan/device/commands.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "formats/error.h"

namespace longhand::vulkan {
namespace {

// About 50 ms on a small integrated GPU: the desktop draws its frames between submissions.
constexpr double work_per_submission = 2e10;
constexpr uint32_t sets_a_pool = 128;
constexpr size_t push_bytes = 128;
constexpr VkPipelineStageFlags working = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags all_writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags all_accesses = all_writes | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

}  // namespace

Commands::Commands(std::shared_ptr<Device> device, Pipelines& pipelines)
    : device_(std::move(device)), pipelines_(pipelines) {
  const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                       .initialValue = 0};
  const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  device_->check(device_->call.CreateSemaphore(device_->handle(), &semaphore, nullptr, &timeline_), "a semaphore");
  for (Slot& slot : slots_) {
    const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                       .queueFamilyIndex = device_->queue_family()};
    device_->check(device_->call.CreateCommandPool(device_->handle(), &pool, nullptr, &slot.pool), "a command pool");
    const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = slot.pool,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
    device_->check(device_->call.AllocateCommandBuffers(device_->handle(), &info, &slot.commands), "a command buffer");
    slot.timestamps = std::make_unique<Timestamps>(device_);
  }
}

bool Commands::profile() { return profiling_ = device_->limits().tick > 0; }

Commands::~Commands() {
  abandon();
  const DeviceFunctions& call = device_->call;
  for (const Slot& slot : slots_) {
    for (VkDescriptorPool pool : slot.descriptors) call.DestroyDescriptorPool(device_->handle(), pool, nullptr);
    call.DestroyCommandPool(device_->handle(), slot.pool, nullptr);
  }
  call.DestroySemaphore(device_->handle(), timeline_, nullptr);
}

void Commands::open() {
  if (recording_) return;
  current_ = (current_ + 1) % slots_.size();
  Slot& slot = slots_[current_];
  wait(slot.value);
  const DeviceFunctions& call = device_->call;
  device_->check(call.ResetCommandPool(device_->handle(), slot.pool, 0), "a command pool");
  for (VkDescriptorPool pool : slot.descriptors) call.ResetDescriptorPool(device_->handle(), pool, 0);
  slot.sets = 0;
  const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  device_->check(call.BeginCommandBuffer(slot.commands, &begin), "a command buffer");
  recording_ = true;
  barrier(all_accesses, working);  // on what was done, or is still done, before
  slot.timestamps->begin(slot.commands);
}

// While profiling: ends the kernel before anything else begins.
void Commands::timed(const char* kernel) {
  if (!profiling_) return;
  Slot& slot = slots_[current_];
  slot.timestamps->mark(slot.commands, kernel);
  barrier(all_accesses, working);
  if (slot.timestamps->full()) submit();
}

void Commands::barrier(VkAccessFlags to, VkPipelineStageFlags stage) {
  const VkMemoryBarrier memory{
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = all_writes, .dstAccessMask = to};
  device_->call.CmdPipelineBarrier(slots_[current_].commands, working, stage, 0, 1, &memory, 0, nullptr, 0, nullptr);
  touched_.clear();
}

// Inserts a barrier if one of these conflicts with what was touched since the last, and marks them as touched.
void Commands::touch(const Argument* arguments, size_t count) {
  const auto collides = [&](const Argument& a) {
    return std::any_of(touched_.begin(), touched_.end(), [&](const Span& span) {
      return span.buffer == a.buffer && a.offset < span.high && span.low < a.offset + a.bytes &&
             (a.access != Access::read || span.writes);
    });
  };
  if (std::any_of(arguments, arguments + count, collides)) barrier(all_accesses, working);
  for (size_t i = 0; i < count; i++) {
    const Argument& a = arguments[i];
    touched_.push_back({a.buffer, a.offset, a.offset + a.bytes, a.access != Access::read});
  }
}
void Commands::touch(std::initializer_list<Argument> arguments) { touch(arguments.begin(), arguments.size()); }

// The descriptor's range: from the device's alignment below, at least a word, whole words. At the end of a buffer it
// has the slack in which a kernel may read one word too many.
Argument Commands::bound(const Argument& a) const {
  const size_t alignment = device_->limits().alignment, first = a.offset / alignment * alignment;
  const size_t last = a.offset + std::max<size_t>(a.bytes, 4);
  const size_t end = last >= a.buffer->bytes() ? vulkan_buffer(*a.buffer).room : (last + 3) / 4 * 4;
  if (end - first > device_->limits().range)
    throw DeviceError("[vulkan] one operation needs " + std::to_string(end - first) +
                      " bytes in one piece, this GPU allows " + std::to_string(device_->limits().range));
  return {a.buffer, first, end - first, a.access};
}

// The buffers of a dispatch: recorded with it, else in a set from a pool that is emptied when the pass is done.
void Commands::bind(const Pipeline& pipeline, VkWriteDescriptorSet* writes, uint32_t count) {
  const DeviceFunctions& call = device_->call;
  VkCommandBuffer commands = slots_[current_].commands;
  if (device_->limits().push_descriptors) {
    call.CmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, count, writes);
    return;
  }
  const VkDescriptorSet set = descriptor_set(pipeline.bindings);
  for (uint32_t i = 0; i < count; i++) writes[i].dstSet = set;
  call.UpdateDescriptorSets(device_->handle(), count, writes, 0, nullptr);
  call.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0, nullptr);
}

VkDescriptorSet Commands::descriptor_set(VkDescriptorSetLayout layout) {
  Slot& slot = slots_[current_];
  const size_t pool = slot.sets / sets_a_pool;
  if (pool == slot.descriptors.size()) {
    const VkDescriptorPoolSize size{.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    .descriptorCount = sets_a_pool * most_arguments};
    const VkDescriptorPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .maxSets = sets_a_pool,
                                          .poolSizeCount = 1,
                                          .pPoolSizes = &size};
    VkDescriptorPool made{};
    device_->check(device_->call.CreateDescriptorPool(device_->handle(), &info, nullptr, &made), "a descriptor pool");
    slot.descriptors.push_back(made);
  }
  const VkDescriptorSetAllocateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                         .descriptorPool = slot.descriptors[pool],
                                         .descriptorSetCount = 1,
                                         .pSetLayouts = &layout};
  VkDescriptorSet set{};
  device_->check(device_->call.AllocateDescriptorSets(device_->handle(), &info, &set), "a descriptor set");
  slot.sets++;
  return set;
}

void Commands::dispatch(const char* kernel, const Constants& constants, std::initializer_list<Argument> arguments,
                        const void* params, size_t params_bytes, const Grid& grid) {
  assert(arguments.size() <= most_arguments && arguments.size() * 4 + params_bytes <= push_bytes);
  const Pipeline& pipeline = pipelines_.get(kernel, arguments.size(), grid.threads, constants);
  open();
  std::array<Argument, most_arguments> ranges;
  std::array<VkDescriptorBufferInfo, most_arguments> buffers;
  std::array<VkWriteDescriptorSet, most_arguments> writes;
  std::array<uint32_t, push_bytes / 4> push;
  uint32_t count = 0;
  for (const Argument& a : arguments) {
    ranges[count] = bound(a);
    push[count] = static_cast<uint32_t>((a.offset - ranges[count].offset) / 4);
    buffers[count] = {
        .buffer = vulkan_buffer(*a.buffer).handle, .offset = ranges[count].offset, .range = ranges[count].bytes};
    writes[count] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                     .pNext = nullptr,
                     .dstSet = {},
                     .dstBinding = count,
                     .dstArrayElement = 0,
                     .descriptorCount = 1,
                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                     .pImageInfo = nullptr,
                     .pBufferInfo = &buffers[count],
                     .pTexelBufferView = nullptr};
    count++;
  }
  std::memcpy(push.data() + count, params, params_bytes);
  const auto pushed = static_cast<uint32_t>(count * 4 + params_bytes);
  touch(ranges.data(), count);
  const DeviceFunctions& call = device_->call;
  VkCommandBuffer commands = slots_[current_].commands;
  call.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
  bind(pipeline, writes.data(), count);
  call.CmdPushConstants(commands, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushed, push.data());
  call.CmdDispatch(commands, static_cast<uint32_t>(grid.groups[0]), static_cast<uint32_t>(grid.groups[1]),
                   static_cast<uint32_t>(grid.groups[2]));
  work_ += grid.work;
  timed(kernel);
  if (work_ > work_per_submission) submit();
}

void Commands::copy(VulkanBuffer& to, size_t to_offset, VulkanBuffer& from, size_t from_offset, size_t bytes) {
  if (bytes == 0) return;
  open();
  touch({{&from, from_offset, bytes, Access::read}, {&to, to_offset, bytes, Access::write}});
  const VkBufferCopy region{.srcOffset = from_offset, .dstOffset = to_offset, .size = bytes};
  device_->call.CmdCopyBuffer(slots_[current_].commands, from.handle, to.handle, 1, &region);
  timed("copy");
}

void Commands::clear(VulkanBuffer& buffer) {
  open();
  touch({{&buffer, 0, buffer.room, Access::write}});
  device_->call.CmdFillBuffer(slots_[current_].commands, buffer.handle, 0, VK_WHOLE_SIZE, 0);
  timed("clear");
}

uint64_t Commands::submit() {
  if (!recording_) return submitted_;
  Slot& slot = slots_[current_];
  slot.timestamps->end(slot.commands);
  barrier(VK_ACCESS_HOST_READ_BIT, VK_PIPELINE_STAGE_HOST_BIT);
  recording_ = false;
  work_ = 0;
  device_->check(device_->call.EndCommandBuffer(slot.commands), "a command buffer");
  const uint64_t value = submitted_ + 1;
  const VkTimelineSemaphoreSubmitInfo timeline{.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                               .signalSemaphoreValueCount = 1,
                                               .pSignalSemaphoreValues = &value};
  const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .pNext = &timeline,
                          .commandBufferCount = 1,
                          .pCommandBuffers = &slot.commands,
                          .signalSemaphoreCount = 1,
                          .pSignalSemaphores = &timeline_};
  device_->check(device_->call.QueueSubmit(device_->queue(), 1, &info, VkFence{}), "the GPU stopped");
  submitted_ = value;
  slot.value = value;
  return value;
}

void Commands::wait(uint64_t value) {
  if (value <= waited_) return;
  const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                 .semaphoreCount = 1,
                                 .pSemaphores = &timeline_,
                                 .pValues = &value};
  const VkResult result = device_->call.WaitSemaphores(device_->handle(), &info, UINT64_MAX);
  waited_ = std::max(waited_, value);  // a lost device runs nothing any more
  device_->check(result, "the GPU stopped");
  for (Slot& slot : slots_)
    if (slot.value <= waited_ && !(recording_ && &slot == &slots_[current_]))
      slot.timestamps->add_to(gpu_seconds_, kernel_times_);
}

void Commands::finish() { wait(submit()); }

void Commands::abandon() noexcept {
  if (recording_) {
    device_->call.EndCommandBuffer(slots_[current_].commands);
    slots_[current_].timestamps->drop();
  }
  recording_ = false;
  work_ = 0;
  try {
    wait(submitted_);
  } catch (const std::exception&) {
    // The pass has failed already, or the device says so again at the next one.
  }
}

}  // namespace longhand::vulkan
