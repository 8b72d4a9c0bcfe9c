// What native/gpu needs to know of Vulkan: its types, and the kernels of shaders/.
#pragma once

#include "gpu/shared_ops.h"
#include "vulkan/cache.h"
#include "vulkan/pipelines/pipelines.h"
#include "vulkan/weight.h"

namespace longhand {

namespace vulkan {
class VulkanBackend;
}

template <>
struct gpu::Traits<vulkan::VulkanBackend> {
  using Constants = vulkan::Constants;
  using Part = vulkan::Part;
  using Kernel = const char*;
  static const vulkan::VulkanWeight& weight(const Weight& weight) { return vulkan::vulkan_weight(weight); }

  static constexpr Kernel embed = "embed", rope = "rope", route = "route";
  // A layout is a constant that the kernel is specialised by.
  static Kernel for_layout(Kernel kernel, Constants& constants, const Part& part) {
    constants.set(vulkan::kLayout, part.layout).set(vulkan::kBits, part.bits);
    return kernel;
  }
  static Kernel for_cache(Kernel kernel, Constants& constants, CacheType type) {
    constants.set(vulkan::kCacheType, vulkan::cache_type(type));
    return kernel;
  }
  static vulkan::shared::EmbedRowsParams embed_params(const Weight& table, const Part& part, const Tensor& y,
                                                      float scale) {
    return {.columns = narrow(table.in),
            .segments = part.segments,
            .y_stride = narrow(y.stride),
            .first = part.first,
            .rows = part.rows,
            .scale = scale};
  }

  // One shader rotates into q and in place, and rows of an odd number begin in the middle of a word.
  static constexpr Access rope_input = Access::update, appends = Access::update;
  static constexpr bool tiles_experts = false;
};

}  // namespace longhand
