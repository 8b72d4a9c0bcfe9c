#pragma once

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
void SharedOps<Api>::block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) {
  const auto append = [&](int64_t kernel, int64_t stride, Buffer& means, int64_t& length) {
    api().compress(cache, kernel, stride, complete_windows(cache.length, kernel, stride), means, length);
  };
  append(shape.kernel, shape.stride, *compressed.k1, compressed.k1_length);
  append(k2_ratio * shape.kernel, k2_ratio * shape.stride, *compressed.k2, compressed.k2_length);
}

}  // namespace longhand::gpu
