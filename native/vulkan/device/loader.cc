#include "vulkan/device/loader.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace longhand::vulkan {
namespace {

#if defined(_WIN32)
const char* const libraries[] = {"vulkan-1.dll"};
void* open_library(const char* name) { return reinterpret_cast<void*>(LoadLibraryA(name)); }
void* symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
#else
const char* const libraries[] = {"libvulkan.so.1", "libvulkan.so"};
void* open_library(const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* symbol(void* library, const char* name) { return dlsym(library, name); }
#endif

void* loader() {
  if (const char* chosen = std::getenv("LONGHAND_VULKAN_LOADER")) return open_library(chosen);
  for (const char* name : libraries)
    if (void* library = open_library(name)) return library;
  return nullptr;
}

int rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    default: return 3;
  }
}

std::vector<VkPhysicalDevice> devices_of(VkInstance instance, const InstanceFunctions& call) {
  uint32_t count = 0;
  if (call.EnumeratePhysicalDevices(instance, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<VkPhysicalDevice> devices(count);
  if (call.EnumeratePhysicalDevices(instance, &count, devices.data()) < VK_SUCCESS) return {};
  devices.resize(count);
  const auto rank_of = [&](VkPhysicalDevice device) {
    VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    call.GetPhysicalDeviceProperties2(device, &properties);
    return rank(properties.properties.deviceType);
  };
  std::stable_sort(devices.begin(), devices.end(),
                   [&](VkPhysicalDevice a, VkPhysicalDevice b) { return rank_of(a) < rank_of(b); });
  return devices;
}

std::unique_ptr<Instance> create(std::string& reason) {
  void* library = loader();
  const auto get =
      library ? reinterpret_cast<PFN_vkGetInstanceProcAddr>(symbol(library, "vkGetInstanceProcAddr")) : nullptr;
  if (!get) {
    reason = "this computer has no Vulkan loader (libvulkan.so.1); it comes with the graphics driver";
    return nullptr;
  }
  const auto version = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(get(nullptr, "vkEnumerateInstanceVersion"));
  uint32_t newest = VK_API_VERSION_1_0;
  if (version) version(&newest);
  if (newest < VK_API_VERSION_1_2) {
    reason = "the Vulkan loader is older than Vulkan 1.2";
    return nullptr;
  }
  const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                      .pApplicationName = "Longhand",
                                      .pEngineName = "Longhand",
                                      .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  const auto create_instance = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
  VkInstance instance = nullptr;
  const VkResult result = create_instance ? create_instance(&info, nullptr, &instance) : VK_ERROR_INITIALIZATION_FAILED;
  if (result != VK_SUCCESS) {
    reason = result == VK_ERROR_INCOMPATIBLE_DRIVER ? "no Vulkan driver is installed" : "no Vulkan: " + text(result);
    return nullptr;
  }
  auto out = std::make_unique<Instance>();
#define LONGHAND_LOAD(name) out->call.name = reinterpret_cast<PFN_vk##name>(get(instance, "vk" #name));
  LONGHAND_VULKAN_INSTANCE_FUNCTIONS(LONGHAND_LOAD)
#undef LONGHAND_LOAD
  out->devices = devices_of(instance, out->call);
  if (!out->devices.empty()) return out;
  reason = "no Vulkan driver is installed, or none of them found a GPU";
  return nullptr;
}

}  // namespace

const Instance* open_instance(std::string& reason) {
  static std::mutex mutex;
  static std::unique_ptr<Instance> instance;
  const std::lock_guard lock(mutex);
  if (!instance) instance = create(reason);
  return instance.get();
}

std::string text(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED: return "the driver could not be started";
    case VK_ERROR_DEVICE_LOST: return "the device was lost";
    case VK_ERROR_MEMORY_MAP_FAILED: return "memory could not be mapped";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "incompatible driver";
    default: return "error " + std::to_string(static_cast<int>(result));
  }
}

}  // namespace longhand::vulkan
