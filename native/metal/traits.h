// What native/gpu needs to know of Metal: its types, and the kernels of metal/.
#pragma once

#include "gpu/shared_ops.h"
#include "metal/cache.h"
#include "metal/pipelines/pipelines.h"
#include "metal/weight.h"

namespace longhand {

namespace metal {
class MetalBackend;
}

template <>
struct gpu::Traits<metal::MetalBackend> {
  using Constants = metal::Constants;
  using Part = metal::Part;
  using Kernel = metal::Kernel;
  static const metal::MetalWeight& weight(const Weight& weight) { return metal::metal_weight(weight); }

  static constexpr Kernel embed{"embed", "embed"}, rope{"rope", "qk_norm_rope_store"}, route{"moe", "route"};
  // A layout is a struct that the kernel is compiled for.
  static Kernel for_layout(const Kernel& kernel, Constants&, const Part& part) {
    return {kernel.file, kernel.name, part.layout};
  }
  static Kernel for_cache(const Kernel& kernel, Constants&, CacheType type) {
    return {kernel.file, kernel.name, metal::cache_layout(type)};
  }
  static params::EmbedParams embed_params(const Weight& table, const Part& part, const Tensor& y, float scale) {
    assert(part.first == 0);  // of one part
    return {.in = narrow(table.in), .segments = part.segments, .y_stride = narrow(y.stride), .scale = scale};
  }

  static constexpr Access rope_input = Access::read, appends = Access::write;
  static constexpr bool tiles_experts = true;
};

}  // namespace longhand
