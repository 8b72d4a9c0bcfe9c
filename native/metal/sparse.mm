#include "metal/backend.h"
#include "metal/cache.h"

namespace longhand::metal {

using namespace params;

void MetalBackend::compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted, Buffer& means,
                            int64_t& length) {
  if (length >= wanted) return;
  const auto [heads, dim] = cache.layout;
  const CompressParams p = kernel_args::compress(cache, kernel, stride, length);
  run(Kernel{"sparse", "block_compress", cache_layout(cache.type)}, Constants{},
      {part_of(*cache.keys, 0, static_cast<size_t>(cache.length) * p.row_bytes, Access::read), updates(means)}, p,
      elements(static_cast<size_t>(heads * dim), static_cast<size_t>(wanted - length), 64));
  length = wanted;
}

BlockList MetalBackend::block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape,
                                     int64_t first_position, int64_t total) {
  const Heads& heads = shape.heads;
  assert(first_position + q.rows <= total);
  const int64_t rows = q.rows * heads.kv, blocks = (first_position + q.rows - 1) / shape.block + 1;
  const Tensor scores = scratch(rows, std::max<int64_t>(compressed.k1_length, 1));
  const Tensor pooled = scratch(rows, blocks), ranks = scratch(rows, blocks);
  const Tensor list = scratch(rows, shape.effective_topk());  // int32 in the place of fp32
  const SelectParams p = kernel_args::select(q, compressed, shape, first_position, scores, pooled);
  run(Kernel{"sparse", "block_select", cache_layout(CacheType::f32)}, Constants{},
      {reads(q), reads(*compressed.k1), reads(*compressed.k2), writes(scores), writes(pooled), writes(ranks),
       writes(list)},
      p, Grid{{static_cast<size_t>(rows), 1, 1}, {kSelectThreads, 1, 1}});
  return {list.buffer, list.offset * sizeof(float), rows, list.cols};
}

Tensor MetalBackend::block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) {
  const auto [query, kv, dim] = shape.heads;
  assert(blocks.rows == q.rows * kv);
  const Tensor o = scratch(q.rows, q.cols);
  AttentionParams p = kernel_args::attention(q, o, shape.heads, cache, shape.scale);
  p.topk = narrow(blocks.topk);
  p.block = narrow(shape.block);
  const auto seen = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length) * p.key_row_bytes, Access::read);
  };
  // One threadgroup walks over the whole list: its length is bounded, whatever the context.
  attend(q, seen(*cache.keys), seen(*cache.values), cache_layout(cache.type), p,
         Constants().set(kDim, narrow(dim)).set(kCausal, 1).set(kSparse, 1), 1,
         part_of(*blocks.blocks, blocks.offset, static_cast<size_t>(blocks.rows * blocks.topk) * 4, Access::read), o);
  return o;
}

}  // namespace longhand::metal
