#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;

namespace {

constexpr int64_t coarse = 4;  // K2 pools 4 * kernel keys every 4 * stride

// Full windows within the first `keys` keys.
int64_t windows(int64_t keys, int64_t kernel, int64_t stride) {
  return keys < kernel ? 0 : (keys - kernel) / stride + 1;
}

}  // namespace

void VulkanBackend::compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted, Buffer& means,
                             int64_t& length) {
  if (length >= wanted) return;
  const auto [heads, dim] = cache.layout;
  const CompressParams p{.first = narrow(length),
                         .kernel_size = narrow(kernel),
                         .stride = narrow(stride),
                         .heads = narrow(heads),
                         .dim = narrow(dim),
                         .row_bytes = narrow(cache_row_bytes(cache.type, heads, dim)),
                         .head_bytes = narrow(cache_row_bytes(cache.type, 1, dim))};
  run("block_compress", Constants().set(kCacheType, cache_type(cache.type)),
      {part_of(*cache.keys, 0, static_cast<size_t>(cache.length) * p.row_bytes, Access::read), updates(means)}, p,
      elements(static_cast<size_t>(heads * dim), static_cast<size_t>(wanted - length), 64));
  length = wanted;
}

void VulkanBackend::block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) {
  const int64_t kernel = coarse * shape.kernel, stride = coarse * shape.stride;
  compress(cache, shape.kernel, shape.stride, windows(cache.length, shape.kernel, shape.stride), *compressed.k1,
           compressed.k1_length);
  compress(cache, kernel, stride, windows(cache.length, kernel, stride), *compressed.k2, compressed.k2_length);
}

BlockList VulkanBackend::block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape,
                                      int64_t first_position, int64_t total) {
  const Heads& heads = shape.heads;
  assert(q.cols == heads.query * heads.dim && first_position + q.rows <= total);
  const int64_t rows = q.rows * heads.kv, blocks = (first_position + q.rows - 1) / shape.block + 1;
  const Tensor scores = scratch(rows, std::max<int64_t>(compressed.k1_length, 1));
  const Tensor pooled = scratch(rows, blocks), ranks = scratch(rows, blocks);
  const Tensor list = scratch(rows, shape.effective_topk());  // int32 in the place of fp32
  const SelectParams p{.tokens = narrow(q.rows),
                       .query = narrow(heads.query),
                       .kv = narrow(heads.kv),
                       .dim = narrow(heads.dim),
                       .q_stride = narrow(q.stride),
                       .k1_length = narrow(compressed.k1_length),
                       .k2_length = narrow(compressed.k2_length),
                       .kernel_size = narrow(shape.kernel),
                       .stride = narrow(shape.stride),
                       .block = narrow(shape.block),
                       .init_blocks = narrow(shape.init_blocks),
                       .local_blocks = narrow(shape.window / shape.block),
                       .topk = narrow(shape.effective_topk()),
                       .first_position = narrow(first_position),
                       .scores_stride = narrow(scores.stride),
                       .blocks_stride = narrow(pooled.stride),
                       .scale = shape.scale};
  run("block_select", Constants{},
      {reads(q), reads(*compressed.k1), reads(*compressed.k2), writes(scores), writes(pooled), writes(ranks),
       writes(list)},
      p, groups(static_cast<size_t>(rows), 1, kSelectThreads));
  return {list.buffer, list.offset * sizeof(float), rows, list.cols};
}

Tensor VulkanBackend::block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) {
  const auto [query, kv, dim] = shape.heads;
  assert(blocks.rows == q.rows * kv);
  const Tensor o = scratch(q.rows, q.cols);
  const AttentionParams p{.tokens = narrow(q.rows),
                          .query = narrow(query),
                          .group = narrow(query / kv),
                          .q_stride = narrow(q.stride),
                          .o_stride = narrow(o.stride),
                          .first_visible = narrow(cache.length - q.rows + 1),
                          .splits = 1,
                          .split_keys = 0,
                          .key_row_bytes = narrow(cache_row_bytes(cache.type, kv, dim)),
                          .head_bytes = narrow(cache_row_bytes(cache.type, 1, dim)),
                          .topk = narrow(blocks.topk),
                          .block = narrow(shape.block),
                          .scale = shape.scale};
  const auto seen = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length) * p.key_row_bytes, Access::read);
  };
  // One threadgroup walks over the whole list: its length is bounded, whatever the context.
  attend(q, seen(*cache.keys), seen(*cache.values), p,
         Constants().set(kDim, narrow(dim)).set(kCausal, 1).set(kSparse, 1).set(kCacheType, cache_type(cache.type)), 1,
         part_of(*blocks.blocks, blocks.offset, static_cast<size_t>(blocks.rows * blocks.topk) * 4, Access::read), o);
  return o;
}

}  // namespace longhand::vulkan
