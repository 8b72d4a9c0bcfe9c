// The system's Vulkan loader with one device or driver made worse: what LONGHAND_VULKAN_LOADER names in the fault
// tests. Settings come from the environment:
//
// clang-format off
//   FAULTY_RANGE=<bytes>      a binding holds no more
//   FAULTY_GROUP=<threads>    a workgroup holds no more
//   FAULTY_SHARED=<bytes>     a workgroup shares no more memory
//   FAULTY_TICKS=0            queues have no timestamps
//   FAULTY_DISCRETE=1         device memory is not mapped
//   FAULTY_PLAIN=1            no extension and no 16-bit or 8-bit feature
//   FAULTY_BEST=<word>        the device with this word in its name is a discrete one
//   FAULTY_DEVICES=<n>        the first device n times
//   FAULTY_MEMORY=<bytes>     that much device memory in all
//   FAULTY_REFUSE=<n>         from when it is set on, the n-th request for memory is refused, and every later one
//   FAULTY_SUBMIT=<n>         the n-th submission loses the device
//   FAULTY_LOSE=<file>        once it is there, the next submission loses the device
//   FAULTY_COMPILE=<n>        the n-th pipeline is refused
//   FAULTY_TIMELINE=0         no timeline semaphores
//   FAULTY_CRASH=<n>          opening device n ends the process
//   FAULTY_BARRIERS=0         none is recorded
//   FAULTY_COUNTS=<file>      a line "<dispatches> <barriers>" for each submission
//   FAULTY_CACHES=<file>     a line with the bytes that a pipeline cache begins with, for each
// clang-format on
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "vulkan/device/vulkan_subset.h"

namespace {

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}
const bool discrete = setting("FAULTY_DISCRETE", 0) != 0;

void* system_loader() {
  static void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}
PFN_vkGetInstanceProcAddr system_get() {
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(system_loader(), "vkGetInstanceProcAddr"));
}

#define NEXT(name) PFN_vk##name next_##name = nullptr;
NEXT(EnumeratePhysicalDevices)
NEXT(GetPhysicalDeviceProperties2)
NEXT(GetPhysicalDeviceFeatures2)
NEXT(GetPhysicalDeviceMemoryProperties)
NEXT(GetPhysicalDeviceQueueFamilyProperties)
NEXT(CreateDevice)
NEXT(GetDeviceProcAddr)
NEXT(GetBufferMemoryRequirements)
NEXT(AllocateMemory)
NEXT(FreeMemory)
NEXT(QueueSubmit)
NEXT(WaitSemaphores)
NEXT(CreateComputePipelines)
NEXT(CreatePipelineCache)
NEXT(CmdDispatch)
NEXT(CmdPipelineBarrier)
NEXT(EnumerateDeviceExtensionProperties)
#undef NEXT

std::atomic<long> submits = 0, pipelines = 0, dispatches = 0, barriers = 0, opened = 0;
std::atomic<bool> lost = false;
// Never destroyed: devices are closed while the process exits, after the statics of this library.
std::mutex& mutex = *new std::mutex;
auto& sizes = *new std::map<VkDeviceMemory, VkDeviceSize>;
VkDeviceSize allocated = 0;

VkResult EnumeratePhysicalDevices(VkInstance instance, uint32_t* count, VkPhysicalDevice* devices) {
  const auto wanted = static_cast<uint32_t>(setting("FAULTY_DEVICES", 0));
  if (wanted == 0) return next_EnumeratePhysicalDevices(instance, count, devices);
  VkPhysicalDevice first = nullptr;
  uint32_t one = 1;
  next_EnumeratePhysicalDevices(instance, &one, &first);
  if (devices)
    for (uint32_t i = 0; i < wanted; i++) devices[i] = first;
  *count = wanted;
  return VK_SUCCESS;
}

void GetPhysicalDeviceProperties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* properties) {
  next_GetPhysicalDeviceProperties2(device, properties);
  VkPhysicalDeviceLimits& limits = properties->properties.limits;
  limits.maxStorageBufferRange = static_cast<uint32_t>(setting("FAULTY_RANGE", limits.maxStorageBufferRange));
  limits.maxComputeWorkGroupInvocations =
      static_cast<uint32_t>(setting("FAULTY_GROUP", limits.maxComputeWorkGroupInvocations));
  limits.maxComputeSharedMemorySize =
      static_cast<uint32_t>(setting("FAULTY_SHARED", limits.maxComputeSharedMemorySize));
  const char* best = std::getenv("FAULTY_BEST");
  if (discrete || (best && std::strstr(properties->properties.deviceName, best)))
    properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

void GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice device, uint32_t* count,
                                            VkQueueFamilyProperties* families) {
  next_GetPhysicalDeviceQueueFamilyProperties(device, count, families);
  for (uint32_t i = 0; families && i < *count; i++)
    families[i].timestampValidBits = static_cast<uint32_t>(setting("FAULTY_TICKS", families[i].timestampValidBits));
}

void GetPhysicalDeviceFeatures2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* features) {
  next_GetPhysicalDeviceFeatures2(device, features);
  const bool timeline = setting("FAULTY_TIMELINE", 1) != 0, plain = setting("FAULTY_PLAIN", 0) != 0;
  for (auto* each = static_cast<VkPhysicalDeviceTimelineSemaphoreFeatures*>(features->pNext); each;
       each = static_cast<VkPhysicalDeviceTimelineSemaphoreFeatures*>(each->pNext)) {
    if (!timeline && each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES)
      each->timelineSemaphore = 0;
    if (plain && each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES)
      reinterpret_cast<VkPhysicalDeviceShaderFloat16Int8Features*>(each)->shaderFloat16 = 0;
  }
}

VkResult EnumerateDeviceExtensionProperties(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                            VkExtensionProperties* extensions) {
  if (setting("FAULTY_PLAIN", 0) == 0) return next_EnumerateDeviceExtensionProperties(device, layer, count, extensions);
  *count = 0;
  return VK_SUCCESS;
}

// The one type of the software driver becomes two: the GPU's own, and the CPU's.
void GetPhysicalDeviceMemoryProperties(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* memory) {
  next_GetPhysicalDeviceMemoryProperties(device, memory);
  if (!discrete) return;
  memory->memoryTypes[1] = memory->memoryTypes[0];
  memory->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  memory->memoryTypes[1].propertyFlags &= ~static_cast<VkFlags>(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  memory->memoryTypeCount = 2;
}
void GetBufferMemoryRequirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements* needs) {
  next_GetBufferMemoryRequirements(device, buffer, needs);
  if (discrete) needs->memoryTypeBits = 3;
}

VkResult AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                        VkDeviceMemory* memory) {
  const std::lock_guard lock(mutex);
  const long limit = setting("FAULTY_MEMORY", 0);
  if (limit > 0 && allocated + info->allocationSize > static_cast<VkDeviceSize>(limit))
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const long refused = setting("FAULTY_REFUSE", 0);
  static long requests = 0;
  requests = refused > 0 ? requests + 1 : 0;
  if (refused > 0 && requests >= refused) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkMemoryAllocateInfo real = *info;
  if (discrete) real.memoryTypeIndex = 0;
  const VkResult result = next_AllocateMemory(device, &real, callbacks, memory);
  if (result == VK_SUCCESS) allocated += sizes[*memory] = info->allocationSize;
  return result;
}
void FreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
  const std::lock_guard lock(mutex);
  allocated -= sizes[memory];
  sizes.erase(memory);
  next_FreeMemory(device, memory, callbacks);
}

VkResult CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                      VkDevice* device) {
  if (opened++ == setting("FAULTY_CRASH", -1)) raise(SIGSEGV);
  return next_CreateDevice(physical, info, callbacks, device);
}

VkResult QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  if (++submits == setting("FAULTY_SUBMIT", 0)) lost = true;
  if (const char* file = std::getenv("FAULTY_LOSE"); file && access(file, F_OK) == 0) lost = true;
  if (lost) return VK_ERROR_DEVICE_LOST;
  if (const char* file = std::getenv("FAULTY_COUNTS")) {
    std::FILE* out = std::fopen(file, "a");
    std::fprintf(out, "%ld %ld\n", dispatches.exchange(0), barriers.exchange(0));
    std::fclose(out);
  }
  return next_QueueSubmit(queue, count, infos, fence);
}
VkResult WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo* info, uint64_t timeout) {
  return lost ? VK_ERROR_DEVICE_LOST : next_WaitSemaphores(device, info, timeout);
}
VkResult CreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* callbacks,
                                VkPipeline* made) {
  if (++pipelines == setting("FAULTY_COMPILE", 0)) return VK_ERROR_INITIALIZATION_FAILED;
  return next_CreateComputePipelines(device, cache, count, infos, callbacks, made);
}
VkResult CreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo* info,
                             const VkAllocationCallbacks* callbacks, VkPipelineCache* made) {
  if (const char* file = std::getenv("FAULTY_CACHES")) {
    std::FILE* out = std::fopen(file, "a");
    std::fprintf(out, "%zu\n", info->initialDataSize);
    std::fclose(out);
  }
  return next_CreatePipelineCache(device, info, callbacks, made);
}
void CmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  dispatches++;
  next_CmdDispatch(commands, x, y, z);
}
void CmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                        VkDependencyFlags flags, uint32_t memories, const VkMemoryBarrier* memory, uint32_t buffers,
                        const VkBufferMemoryBarrier* buffer, uint32_t images, const VkImageMemoryBarrier* image) {
  barriers++;
  if (setting("FAULTY_BARRIERS", 1) == 0) return;
  next_CmdPipelineBarrier(commands, from, to, flags, memories, memory, buffers, buffer, images, image);
}

PFN_vkVoidFunction GetDeviceProcAddr(VkDevice device, const char* name);

// `real` is what the loader gives for `name`; ours stands before it, if there is one.
PFN_vkVoidFunction ours(const char* name, PFN_vkVoidFunction real) {
#define WRAP(function)                                          \
  if (std::strcmp(name, "vk" #function) == 0) {                 \
    next_##function = reinterpret_cast<PFN_vk##function>(real); \
    return reinterpret_cast<PFN_vkVoidFunction>(&function);     \
  }
  WRAP(EnumeratePhysicalDevices)
  WRAP(GetPhysicalDeviceProperties2)
  WRAP(GetPhysicalDeviceFeatures2)
  WRAP(GetPhysicalDeviceMemoryProperties)
  WRAP(GetPhysicalDeviceQueueFamilyProperties)
  WRAP(CreateDevice)
  WRAP(GetDeviceProcAddr)
  WRAP(GetBufferMemoryRequirements)
  WRAP(AllocateMemory)
  WRAP(FreeMemory)
  WRAP(QueueSubmit)
  WRAP(WaitSemaphores)
  WRAP(CreateComputePipelines)
  WRAP(CreatePipelineCache)
  WRAP(CmdDispatch)
  WRAP(CmdPipelineBarrier)
  WRAP(EnumerateDeviceExtensionProperties)
#undef WRAP
  return real;
}
PFN_vkVoidFunction GetDeviceProcAddr(VkDevice device, const char* name) {
  return ours(name, next_GetDeviceProcAddr(device, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance,
                                                                                           const char* name) {
  return ours(name, system_get()(instance, name));
}
