#include "vulkan/pipelines/pipelines.h"

#include <vector>

#include "formats/error.h"
#include "vulkan/pipelines/kernels.h"
#include "vulkan/pipelines/pipeline_cache.h"

namespace longhand::vulkan {

namespace {

constexpr uint32_t push_bytes = 128;  // what every device has

VkPipelineCache create_cache(const Device& device, const std::vector<std::byte>& stored) {
  const VkPipelineCacheCreateInfo info{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                       .initialDataSize = stored.size(),
                                       .pInitialData = stored.empty() ? nullptr : stored.data()};
  VkPipelineCache cache{};
  return device.call.CreatePipelineCache(device.handle(), &info, nullptr, &cache) == VK_SUCCESS ? cache
                                                                                                : VkPipelineCache{};
}

}  // namespace

Pipelines::Pipelines(std::shared_ptr<Device> device) : device_(std::move(device)) {
  path_ = pipeline_cache_path(device_->identity() + " " + kernel_hash());
  cache_ = create_cache(*device_, path_.empty() ? std::vector<std::byte>{} : read_pipeline_cache(path_));
}

Pipelines::~Pipelines() {
  save();
  const DeviceFunctions& call = device_->call;
  VkDevice device = device_->handle();
  for (const auto& [key, pipeline] : pipelines_) call.DestroyPipeline(device, pipeline.handle, nullptr);
  for (const auto& [name, module] : modules_) call.DestroyShaderModule(device, module, nullptr);
  for (const auto& [arguments, layout] : layouts_) {
    call.DestroyPipelineLayout(device, layout.layout, nullptr);
    call.DestroyDescriptorSetLayout(device, layout.bindings, nullptr);
  }
  call.DestroyPipelineCache(device, cache_, nullptr);
}

const Pipelines::Layout& Pipelines::layout_for(size_t arguments) {
  if (const auto found = layouts_.find(arguments); found != layouts_.end()) return found->second;
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < arguments; i++)
    bindings.push_back({.binding = i,
                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT});
  const VkFlags pushed = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
  const VkDescriptorSetLayoutCreateInfo set{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            .flags = device_->limits().push_descriptors ? pushed : 0,
                                            .bindingCount = static_cast<uint32_t>(bindings.size()),
                                            .pBindings = bindings.data()};
  Layout made{};
  device_->check(device_->call.CreateDescriptorSetLayout(device_->handle(), &set, nullptr, &made.bindings),
                 "a layout of bindings");
  const VkPushConstantRange push{.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = push_bytes};
  const VkPipelineLayoutCreateInfo info{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                        .setLayoutCount = 1,
                                        .pSetLayouts = &made.bindings,
                                        .pushConstantRangeCount = 1,
                                        .pPushConstantRanges = &push};
  device_->check(device_->call.CreatePipelineLayout(device_->handle(), &info, nullptr, &made.layout),
                 "a pipeline layout");
  return layouts_[arguments] = made;
}

VkShaderModule Pipelines::module_of(const char* kernel) {
  VkShaderModule& module = modules_[kernel];
  if (module) return module;
  const auto words = kernel_words(kernel);
  const VkShaderModuleCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = words.size_bytes(), .pCode = words.data()};
  device_->check(device_->call.CreateShaderModule(device_->handle(), &info, nullptr, &module), kernel);
  return module;
}

VkPipeline Pipelines::compile(const char* kernel, VkPipelineLayout layout, uint32_t threads,
                              const Constants& constants) {
  Constants all = constants;
  all.set(kThreads, threads);
  std::array<VkSpecializationMapEntry, kConstants> entries{};
  for (uint32_t i = 0; i < kConstants; i++) entries[i] = {.constantID = i, .offset = 4 * i, .size = 4};
  const VkSpecializationInfo special{.mapEntryCount = kConstants,
                                     .pMapEntries = entries.data(),
                                     .dataSize = sizeof all.values(),
                                     .pData = all.values().data()};
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size{
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = device_->limits().subgroup};
  const bool fixed = device_->limits().fixed_subgroup;
  const VkComputePipelineCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage =
          {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
           .pNext = fixed ? &size : nullptr,
           .flags =
               fixed ? VkPipelineShaderStageCreateFlags{VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT}
                     : 0,
           .stage = VK_SHADER_STAGE_COMPUTE_BIT,
           .module = module_of(kernel),
           .pName = "main",
           .pSpecializationInfo = &special},
      .layout = layout};
  VkPipeline pipeline{};
  const VkResult result = device_->call.CreateComputePipelines(device_->handle(), cache_, 1, &info, nullptr, &pipeline);
  if (result != VK_SUCCESS)
    throw DeviceError("[vulkan] the driver cannot compile kernel " + std::string(kernel) + ": " + text(result));
  changed_ = true;
  return pipeline;
}

const Pipeline& Pipelines::get(const char* kernel, size_t arguments, uint32_t threads, const Constants& constants) {
  Key key{kernel, constants.values()};
  key.second[kThreads] = threads;
  if (const auto found = pipelines_.find(key); found != pipelines_.end()) return found->second;
  const Layout& layout = layout_for(arguments);
  const VkPipeline pipeline = compile(kernel, layout.layout, threads, constants);
  return pipelines_[key] = {pipeline, layout.layout, layout.bindings};
}

void Pipelines::save() {
  if (!changed_ || path_.empty() || !cache_) return;
  changed_ = false;
  size_t bytes = 0;
  if (device_->call.GetPipelineCacheData(device_->handle(), cache_, &bytes, nullptr) != VK_SUCCESS) return;
  std::vector<std::byte> data(bytes);
  if (device_->call.GetPipelineCacheData(device_->handle(), cache_, &bytes, data.data()) != VK_SUCCESS) return;
  data.resize(bytes);
  write_pipeline_cache(path_, data);
}

}  // namespace longhand::vulkan
