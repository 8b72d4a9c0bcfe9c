#include "vulkan/device/device.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/error.h"
#include "vulkan/device/buffer.h"

namespace longhand::vulkan {
namespace {

constexpr uint64_t word_slack = 16;             // a kernel may read the word after the last one
constexpr uint64_t largest_range = 0xfffffff0;  // kernels count bytes of a binding in 32 bits
constexpr uint32_t most_threads = 256;
constexpr uint32_t least_subgroup = 4, most_subgroup = 64;

struct Properties {
  VkPhysicalDeviceProperties2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceSubgroupProperties subgroup{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceIDProperties id{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties memory{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};

  Properties(const InstanceFunctions& call, VkPhysicalDevice device) {
    all.pNext = &subgroup;
    subgroup.pNext = &id;
    id.pNext = &driver;
    driver.pNext = &memory;
    call.GetPhysicalDeviceProperties2(device, &all);
  }
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;
  const VkPhysicalDeviceLimits& limits() const { return all.properties.limits; }
};

bool has_extension(const InstanceFunctions& call, VkPhysicalDevice device, const char* name) {
  uint32_t count = 0;
  if (call.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> extensions(count);
  if (call.EnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()) < VK_SUCCESS) return false;
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const VkExtensionProperties& each) { return std::strcmp(each.extensionName, name) == 0; });
}

// Whether pipelines may fix the size of their subgroups, and ask for whole ones.
bool subgroups_can_be_fixed(const InstanceFunctions& call, VkPhysicalDevice device) {
  if (!has_extension(call, device, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) return false;
  VkPhysicalDeviceSubgroupSizeControlFeatures features{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceFeatures2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features};
  call.GetPhysicalDeviceFeatures2(device, &all);
  return features.subgroupSizeControl && features.computeFullSubgroups;
}

// The sizes that a pipeline may ask of its subgroups; the driver's own where it may not ask.
struct SubgroupSizes {
  uint32_t least, most;
};
SubgroupSizes subgroup_sizes(const InstanceFunctions& call, VkPhysicalDevice device, uint32_t own, bool fixed) {
  if (!fixed) return {own, own};
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceProperties2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
  call.GetPhysicalDeviceProperties2(device, &all);
  if (!(sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT)) return {own, own};
  return {std::max(sizes.minSubgroupSize, least_subgroup), std::min(sizes.maxSubgroupSize, most_subgroup)};
}

bool has_push_descriptors(const InstanceFunctions& call, VkPhysicalDevice device) {
  if (!has_extension(call, device, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME)) return false;
  VkPhysicalDevicePushDescriptorPropertiesKHR push{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR};
  VkPhysicalDeviceProperties2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &push};
  call.GetPhysicalDeviceProperties2(device, &all);
  return push.maxPushDescriptors >= most_arguments;
}

struct Variants {
  bool dot = false, half = false;
};

// The variants that the device supports.
Variants variants_listed(const InstanceFunctions& call, VkPhysicalDevice device) {
  const bool dot = has_extension(call, device, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  VkPhysicalDeviceShaderIntegerDotProductFeatures products{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features halves{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, .pNext = dot ? &products : nullptr};
  VkPhysicalDeviceFeatures2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &halves};
  call.GetPhysicalDeviceFeatures2(device, &all);
  return {dot && products.shaderIntegerDotProduct, static_cast<bool>(halves.shaderFloat16)};
}

// The variants that are used: an instruction that the driver emulates, or f16 on a CPU, is slower than fp32.
Variants variants_wanted(const InstanceFunctions& call, VkPhysicalDevice device, VkPhysicalDeviceType type) {
  Variants variants = variants_listed(call, device);
  if (const char* chosen = std::getenv("LONGHAND_VULKAN_VARIANTS")) {
    const std::string_view names = chosen;
    return {variants.dot && names.find("dot") != names.npos, variants.half && names.find("half") != names.npos};
  }
  VkPhysicalDeviceShaderIntegerDotProductProperties products{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};
  VkPhysicalDeviceProperties2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &products};
  if (variants.dot) call.GetPhysicalDeviceProperties2(device, &all);
  variants.dot = variants.dot && products.integerDotProduct4x8BitPackedSignedAccelerated;
  variants.half = variants.half && type != VK_PHYSICAL_DEVICE_TYPE_CPU;
  return variants;
}

bool has_timeline(const InstanceFunctions& call, VkPhysicalDevice device) {
  VkPhysicalDeviceTimelineSemaphoreFeatures features{.sType =
                                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceFeatures2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features};
  call.GetPhysicalDeviceFeatures2(device, &all);
  return features.timelineSemaphore;
}

struct QueueFamily {
  int32_t index = -1;  // -1: none computes
  uint32_t tick_bits = 0;
};

// A family of its own for compute, where there is one, keeps the desktop smooth.
QueueFamily compute_family(const InstanceFunctions& call, VkPhysicalDevice device) {
  uint32_t count = 0;
  call.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  call.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  QueueFamily best;
  for (uint32_t i = 0; i < count; i++) {
    const VkQueueFlags flags = families[i].queueFlags;
    if (!(flags & VK_QUEUE_COMPUTE_BIT)) continue;
    const QueueFamily family{static_cast<int32_t>(i), families[i].timestampValidBits};
    if (!(flags & VK_QUEUE_GRAPHICS_BIT)) return family;
    if (best.index < 0) best = family;
  }
  return best;
}

// Features that the kernels need and this device lacks; empty if none.
std::string missing(const Properties& properties, bool timeline, int32_t family) {
  constexpr VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  if (properties.all.properties.apiVersion < VK_API_VERSION_1_2) return "Vulkan 1.2";
  if (!timeline) return "timeline semaphores";
  if (family < 0) return "a compute queue";
  if (!(properties.subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) ||
      (properties.subgroup.supportedOperations & needed) != needed)
    return "subgroup arithmetic in compute shaders";
  if (properties.subgroup.subgroupSize < least_subgroup || properties.subgroup.subgroupSize > most_subgroup)
    return "subgroups of 4 to 64";
  return "";
}

// The size that kernels are compiled for; 0 and a reason where one was asked for that the driver does not allow.
uint32_t chosen_subgroup(uint32_t own, const SubgroupSizes& sizes, std::string& reason) {
  const char* chosen = std::getenv("LONGHAND_VULKAN_SUBGROUP");
  if (!chosen) return own;
  const auto asked = static_cast<uint32_t>(std::strtoul(chosen, nullptr, 10));
  if (std::has_single_bit(asked) && asked >= sizes.least && asked <= sizes.most) return asked;
  reason = "has subgroups of " + std::to_string(sizes.least) + " to " + std::to_string(sizes.most) +
           ", LONGHAND_VULKAN_SUBGROUP asks for " + chosen;
  return 0;
}

Limits limits_of(const Properties& properties, bool fixed, bool unified, uint32_t tick_bits) {
  const VkPhysicalDeviceLimits& limits = properties.limits();
  const uint64_t range = std::min<uint64_t>({limits.maxStorageBufferRange, properties.memory.maxMemoryAllocationSize});
  return {.unified = unified,
          .fixed_subgroup = fixed,
          .group = std::min({limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0], most_threads}),
          .shared_bytes = limits.maxComputeSharedMemorySize,
          .range = std::min(range, largest_range),
          .alignment = std::max<uint64_t>(limits.minStorageBufferOffsetAlignment, 16),
          .tick = tick_bits > 0 ? 1e-9 * static_cast<double>(limits.timestampPeriod) : 0,
          .tick_bits = tick_bits};
}

bool is_unified(VkPhysicalDeviceType type) {
  return type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU || type == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

DeviceFunctions functions_of(const Instance& instance, VkDevice device) {
  DeviceFunctions call;
#define LONGHAND_LOAD(name) \
  call.name = reinterpret_cast<PFN_vk##name>(instance.call.GetDeviceProcAddr(device, "vk" #name));
  LONGHAND_VULKAN_DEVICE_FUNCTIONS(LONGHAND_LOAD)
#undef LONGHAND_LOAD
  return call;
}

struct Extensions {
  bool fixed_subgroup, push_descriptors;
  Variants variants;
};

VkResult create_device(const Instance& instance, VkPhysicalDevice physical, uint32_t family, const Extensions& wanted,
                       VkDevice* device) {
  void* next = nullptr;
  std::vector<const char*> extensions;
  VkPhysicalDeviceSubgroupSizeControlFeatures sizes{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
      .subgroupSizeControl = VK_TRUE,
      .computeFullSubgroups = VK_TRUE};
  VkPhysicalDeviceShaderIntegerDotProductFeatures products{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
      .shaderIntegerDotProduct = VK_TRUE};
  VkPhysicalDeviceShaderFloat16Int8Features halves{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, .shaderFloat16 = VK_TRUE};
  const auto enable = [&](auto& features) {
    features.pNext = next;
    next = &features;
  };
  if (wanted.fixed_subgroup) enable(sizes);
  if (wanted.fixed_subgroup) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  if (wanted.push_descriptors) extensions.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  if (wanted.variants.dot) enable(products);
  if (wanted.variants.dot) extensions.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  if (wanted.variants.half) enable(halves);
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = VK_TRUE};
  enable(timeline);
  const float priority = 0.5f;
  const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueFamilyIndex = family,
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = next,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue,
                                .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
                                .ppEnabledExtensionNames = extensions.data()};
  return instance.call.CreateDevice(physical, &info, nullptr, device);
}

}  // namespace

std::shared_ptr<Device> Device::open(int index, std::string& reason) {
  const Instance* instance = open_instance(reason);
  if (!instance) return nullptr;
  assert(index >= 0 && static_cast<size_t>(index) < instance->devices.size());
  VkPhysicalDevice physical = instance->devices[static_cast<size_t>(index)];
  const Properties properties(instance->call, physical);
  const std::string name = properties.all.properties.deviceName;
  const QueueFamily family = compute_family(instance->call, physical);
  const std::string lacks = missing(properties, has_timeline(instance->call, physical), family.index);
  if (!lacks.empty()) {
    reason = name + " does not have " + lacks;
    return nullptr;
  }
  const bool fixed = subgroups_can_be_fixed(instance->call, physical);
  const uint32_t own = properties.subgroup.subgroupSize;
  std::string refused;
  const uint32_t subgroup = chosen_subgroup(own, subgroup_sizes(instance->call, physical, own, fixed), refused);
  if (subgroup == 0) {
    reason = name + " " + refused;
    return nullptr;
  }
  const VkPhysicalDeviceType type = properties.all.properties.deviceType;
  const Extensions wanted{.fixed_subgroup = fixed,
                          .push_descriptors = has_push_descriptors(instance->call, physical),
                          .variants = variants_wanted(instance->call, physical, type)};
  VkDevice device = nullptr;
  const VkResult result = create_device(*instance, physical, static_cast<uint32_t>(family.index), wanted, &device);
  if (result != VK_SUCCESS) {
    reason = name + " could not be opened: " + text(result);
    return nullptr;
  }
  std::shared_ptr<Device> made(new Device(*instance, physical, device, static_cast<uint32_t>(family.index)));
  made->limits_ = limits_of(properties, fixed, is_unified(type), family.tick_bits);
  made->limits_.subgroup = subgroup;
  made->limits_.push_descriptors = wanted.push_descriptors;
  made->limits_.integer_dot = wanted.variants.dot;
  made->limits_.half = wanted.variants.half;
  return made;
}

Device::Device(const Instance& instance, VkPhysicalDevice physical, VkDevice device, uint32_t queue_family)
    : call(functions_of(instance, device)),
      instance_(instance),
      physical_(physical),
      device_(device),
      queue_family_(queue_family) {
  call.GetDeviceQueue(device, queue_family, 0, &queue_);
  instance.call.GetPhysicalDeviceMemoryProperties(physical, &memory_);
}

Device::~Device() {
  call.DeviceWaitIdle(device_);
  call.DestroyDevice(device_, nullptr);
}

DeviceInfo Device::info() const {
  const Properties properties(instance_.call, physical_);
  uint64_t memory = 0;
  for (uint32_t i = 0; i < memory_.memoryHeapCount; i++)
    if (memory_.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      memory = std::max<uint64_t>(memory, memory_.memoryHeaps[i].size);
  const std::string software = properties.all.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? "software, " : "";
  return {.back_end = "vulkan",
          .name = properties.all.properties.deviceName,
          .detail = software + properties.driver.driverName + " " + properties.driver.driverInfo + ", subgroups of " +
                    std::to_string(limits_.subgroup) + (limits_.integer_dot ? ", integer products" : "") +
                    (limits_.half ? ", half precision" : ""),
          .memory_bytes = memory,
          .unified = limits_.unified,
          .shapes = gpu_shapes};
}

std::string Device::identity() const {
  const Properties properties(instance_.call, physical_);
  std::string out = properties.all.properties.deviceName;
  for (const uint8_t byte : properties.id.deviceUUID) out += " " + std::to_string(byte);
  for (const uint8_t byte : properties.id.driverUUID) out += " " + std::to_string(byte);
  return out + " " + std::to_string(properties.all.properties.driverVersion) + " " + properties.driver.driverInfo;
}

uint32_t Device::threads_for(uint64_t wanted) const {
  const uint32_t s = limits_.subgroup;
  const auto whole = static_cast<uint32_t>((std::min<uint64_t>(wanted, limits_.group) + s - 1) / s * s);
  return std::clamp(whole, s, limits_.group / s * s);
}

// The first type, in the driver's order (fastest first), that has what the place needs; -1 where there is none.
int32_t Device::memory_type(uint32_t allowed, Place place) const {
  constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const auto find = [&](VkMemoryPropertyFlags flags) {
    for (uint32_t i = 0; i < memory_.memoryTypeCount; i++)
      if ((allowed >> i & 1) && (memory_.memoryTypes[i].propertyFlags & flags) == flags) return static_cast<int32_t>(i);
    return -1;
  };
  const bool on_device = place == Place::device;
  if (on_device && !limits_.unified) return find(local);
  const int32_t first = find(visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT | (on_device ? local : 0));
  const int32_t second = first >= 0 ? first : find(visible | (on_device ? local : 0));
  return second >= 0 ? second : find(visible);
}

VulkanBufferPtr Device::allocate(size_t bytes, Place place) {
  const auto refuse = [&](const std::string& why) {
    return OutOfMemory("[memory] the GPU cannot give " + std::to_string(bytes) + " bytes: " + why);
  };
  auto buffer = std::make_shared<VulkanBuffer>(shared_from_this(), bytes);
  buffer->room = (std::max<size_t>(bytes, 1) + word_slack + 15) / 16 * 16;
  const VkBufferCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = buffer->room,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkResult result = call.CreateBuffer(device_, &info, nullptr, &buffer->handle);
  if (result != VK_SUCCESS) throw refuse(text(result));
  VkMemoryRequirements needs{};
  call.GetBufferMemoryRequirements(device_, buffer->handle, &needs);
  const int32_t type = memory_type(needs.memoryTypeBits, place);
  if (type < 0) throw refuse("it has no memory of the kind");
  const VkMemoryAllocateInfo request{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = static_cast<uint32_t>(type)};
  result = call.AllocateMemory(device_, &request, nullptr, &buffer->memory);
  if (result != VK_SUCCESS) throw refuse(text(result));
  result = call.BindBufferMemory(device_, buffer->handle, buffer->memory, 0);
  if (result != VK_SUCCESS) throw refuse(text(result));
  const bool visible =
      memory_.memoryTypes[static_cast<size_t>(type)].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  if (!visible || (place == Place::device && !limits_.unified)) return buffer;
  void* mapped = nullptr;
  result = call.MapMemory(device_, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) throw refuse(text(result));
  buffer->mapped = static_cast<std::byte*>(mapped);
  return buffer;
}

void Device::check(VkResult result, const char* what) const {
  if (result == VK_SUCCESS) return;
  const std::string message = std::string(what) + ": " + text(result);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
    throw OutOfMemory("[memory] " + message);
  throw DeviceError("[vulkan] " + message);
}

}  // namespace longhand::vulkan
