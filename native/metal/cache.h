// The struct of metal/shared/cache.h that reads and writes a cache of this type.
#pragma once

#include "ops/memory.h"

namespace longhand::metal {

inline const char* cache_layout(CacheType type) {
  switch (type) {
    case CacheType::f16: return "CacheF16";
    case CacheType::q8: return "CacheQ8";
    case CacheType::q4: return "CacheQ4";
    case CacheType::f32: break;
  }
  return "CacheF32";
}

}  // namespace longhand::metal
