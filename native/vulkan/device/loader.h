// The Vulkan loader of the system, opened when it is first asked for: a machine without one runs everything else. One
// instance a process; it stays open, since drivers do not like to be unloaded.
#pragma once

#include <string>
#include <vector>

#include "vulkan/device/vulkan_subset.h"

namespace longhand::vulkan {

#define LONGHAND_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(EnumeratePhysicalDevices)                 \
  X(GetPhysicalDeviceProperties2)             \
  X(GetPhysicalDeviceFeatures2)               \
  X(GetPhysicalDeviceMemoryProperties)        \
  X(GetPhysicalDeviceQueueFamilyProperties)   \
  X(EnumerateDeviceExtensionProperties)       \
  X(CreateDevice)                             \
  X(GetDeviceProcAddr)

#define LONGHAND_VULKAN_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                          \
  X(GetDeviceQueue)                         \
  X(QueueSubmit)                            \
  X(DeviceWaitIdle)                         \
  X(AllocateMemory)                         \
  X(FreeMemory)                             \
  X(MapMemory)                              \
  X(CreateBuffer)                           \
  X(DestroyBuffer)                          \
  X(GetBufferMemoryRequirements)            \
  X(BindBufferMemory)                       \
  X(CreateShaderModule)                     \
  X(DestroyShaderModule)                    \
  X(CreatePipelineCache)                    \
  X(DestroyPipelineCache)                   \
  X(GetPipelineCacheData)                   \
  X(CreateComputePipelines)                 \
  X(DestroyPipeline)                        \
  X(CreatePipelineLayout)                   \
  X(DestroyPipelineLayout)                  \
  X(CreateDescriptorSetLayout)              \
  X(DestroyDescriptorSetLayout)             \
  X(CreateDescriptorPool)                   \
  X(DestroyDescriptorPool)                  \
  X(ResetDescriptorPool)                    \
  X(AllocateDescriptorSets)                 \
  X(UpdateDescriptorSets)                   \
  X(CreateCommandPool)                      \
  X(DestroyCommandPool)                     \
  X(ResetCommandPool)                       \
  X(AllocateCommandBuffers)                 \
  X(BeginCommandBuffer)                     \
  X(EndCommandBuffer)                       \
  X(CmdBindPipeline)                        \
  X(CmdBindDescriptorSets)                  \
  X(CmdPushConstants)                       \
  X(CmdPushDescriptorSetKHR)                \
  X(CmdDispatch)                            \
  X(CmdPipelineBarrier)                     \
  X(CmdCopyBuffer)                          \
  X(CmdFillBuffer)                          \
  X(CreateQueryPool)                        \
  X(DestroyQueryPool)                       \
  X(GetQueryPoolResults)                    \
  X(CmdResetQueryPool)                      \
  X(CmdWriteTimestamp)                      \
  X(CreateSemaphore)                        \
  X(DestroySemaphore)                       \
  X(WaitSemaphores)

#define LONGHAND_DECLARE(name) PFN_vk##name name = nullptr;
struct InstanceFunctions {
  LONGHAND_VULKAN_INSTANCE_FUNCTIONS(LONGHAND_DECLARE)
};
struct DeviceFunctions {
  LONGHAND_VULKAN_DEVICE_FUNCTIONS(LONGHAND_DECLARE)
};
#undef LONGHAND_DECLARE

struct Instance {
  InstanceFunctions call;
  std::vector<VkPhysicalDevice>
      devices;  // best first: discrete, integrated, virtual, software; as the driver orders them
};

// Null and a reason without a loader, a driver or a device. LONGHAND_VULKAN_LOADER names another library (tests).
const Instance* open_instance(std::string& reason);
// "VK_ERROR_DEVICE_LOST" and the like, for messages.
std::string text(VkResult result);

}  // namespace longhand::vulkan
