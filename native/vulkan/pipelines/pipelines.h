// Kernels ready to run: specialised once a process, kept on disk from one start to the next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ops/params.h"
#include "vulkan/device/device.h"

namespace longhand::vulkan {

// Specialisation constants beside those of ops/params.h.
enum VulkanConstant {
  kLayout = 32,       // kLayout... of shaders/shared.h
  kCacheType = 33,    // kCache... of shaders/shared.h
  kThreads = 34,      // of a workgroup; set by the pipeline
  kBits = 36,         // MLX: of a code
  kCentred = 37,      // layer norm, not RMS
  kCopyKind = 38,     // copy.comp
  kSelectSteps = 39,  // kSelect... of shaders/shared.h
  kSlices = 41,       // matmul.glsl
  kConstants = 42,
};

// Values of every specialisation constant; what is not set is 0 or false.
class Constants {
 public:
  Constants& set(int index, uint32_t value) {
    values_[static_cast<size_t>(index)] = value;
    return *this;
  }
  const auto& values() const { return values_; }

 private:
  std::array<uint32_t, kConstants> values_{};
};

struct Pipeline {
  VkPipeline handle;
  VkPipelineLayout layout;
  VkDescriptorSetLayout bindings;
};

class Pipelines {
 public:
  explicit Pipelines(std::shared_ptr<Device> device);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // shaders/<kernel>.comp with `arguments` storage buffers, `threads` a workgroup. `kernel` is a literal: its address
  // is part of the key. Throws DeviceError when the driver cannot compile it.
  const Pipeline& get(const char* kernel, size_t arguments, uint32_t threads, const Constants& constants);
  // Writes what was compiled since the last time. A folder that cannot be written costs time at the next start, not
  // more.
  void save();

 private:
  struct Layout {
    VkDescriptorSetLayout bindings;
    VkPipelineLayout layout;
  };
  using Key = std::pair<const char*, std::array<uint32_t, kConstants>>;

  const Layout& layout_for(size_t arguments);
  VkShaderModule module_of(const char* kernel);
  VkPipeline compile(const char* kernel, VkPipelineLayout layout, uint32_t threads, const Constants& constants);

  std::shared_ptr<Device> device_;
  std::map<std::string_view, VkShaderModule> modules_;
  std::map<size_t, Layout> layouts_;
  std::map<Key, Pipeline> pipelines_;
  VkPipelineCache cache_{};
  std::string path_;  // of the cache; empty when there is no folder to keep it in
  bool changed_ = false;
};

}  // namespace longhand::vulkan
