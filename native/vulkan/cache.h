// The number by which shaders/cache.glsl knows a type of cache.
#pragma once

#include "ops/memory.h"
#include "vulkan/weight.h"

namespace longhand::vulkan {

inline uint32_t cache_type(CacheType type) {
  switch (type) {
    case CacheType::f16: return shared::kCacheF16;
    case CacheType::q8: return shared::kCacheQ8;
    case CacheType::q4: return shared::kCacheQ4;
    case CacheType::f32: break;
  }
  return shared::kCacheF32;
}

}  // namespace longhand::vulkan
