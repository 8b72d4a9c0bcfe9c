// Rows of keys and values in each type of cache (ops/memory.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.h"
#include "ops/memory.h"

namespace longhand::cpu {

// One head's vector of `dim` elements in token row `row` of a cache with `heads` heads a row.
std::byte* cache_head(CacheType type, std::byte* cache, int64_t row, int64_t heads, int64_t dim, int64_t head);
void store_head(const Kernels& kernels, CacheType type, const float* from, int64_t dim, std::byte* to);
void load_head(const Kernels& kernels, CacheType type, const std::byte* from, int64_t dim, float* to);

}  // namespace longhand::cpu
