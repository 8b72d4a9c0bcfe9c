#include <algorithm>

#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;

// As many windows a dispatch as have their keys, and their means, in one binding.
void VulkanBackend::compress(const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted, Buffer& means,
                             int64_t& length) {
  const auto [heads, dim] = cache.layout;
  const int64_t row_bytes = cache_row_bytes(cache.type, heads, dim);
  const int64_t mean_bytes = heads * dim * static_cast<int64_t>(sizeof(float));
  const int64_t together =
      std::min(complete_windows(rows_in_binding(row_bytes), kernel, stride), rows_in_binding(mean_bytes));
  const auto rows = [](Buffer& buffer, int64_t first, int64_t end, int64_t bytes, Access access) {
    return part_of(buffer, static_cast<size_t>(first * bytes), static_cast<size_t>((end - first) * bytes), access);
  };
  while (length < wanted) {
    const int64_t bound = length / 2 * 2;  // its keys begin at a word
    const int64_t end = std::min(wanted, bound + std::max<int64_t>(together, 2));
    const CompressParams p = kernel_args::compress(cache, kernel, stride, length - bound);
    run("block_compress", Constants().set(kCacheType, cache_type(cache.type)),
        {rows(*cache.keys, bound * stride, (end - 1) * stride + kernel, row_bytes, Access::read),
         rows(means, bound, end, mean_bytes, Access::update)},
        p, elements(static_cast<size_t>(heads * dim), static_cast<size_t>(end - length), 64));
    length = end;
  }
}

// One dispatch, unless a list of compressed keys or the scores of all rows are larger than a binding: then some query
// rows at a time, their normalisers window by window of K2, their scores window by window of K1, and the choice.
BlockList VulkanBackend::block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape,
                                      int64_t first_position, int64_t total) {
  const Heads& heads = shape.heads;
  assert(first_position + q.rows <= total);
  const int64_t key_bytes = heads.kv * heads.dim * static_cast<int64_t>(sizeof(float));
  const int64_t together = rows_in_binding(key_bytes), k1 = compressed.k1_length, k2 = compressed.k2_length;
  const int64_t blocks = (first_position + q.rows - 1) / shape.block + 1, scores = std::max<int64_t>(k1, 1);
  const int64_t score_bytes = heads.kv * std::max(scores, blocks) * static_cast<int64_t>(sizeof(float));
  const int64_t most = std::min(q.rows, rows_in_binding(score_bytes));
  const Tensor list = scratch(q.rows * heads.kv, shape.effective_topk());  // int32 in the place of fp32
  const Selection at{.scores = scratch(most * heads.kv, scores),
                     .pooled = scratch(most * heads.kv, blocks),
                     .ranks = scratch(most * heads.kv, blocks),
                     .normalisers = scratch(most * heads.query, 2)};
  for (int64_t row = 0; row < q.rows; row += most) {
    const Tensor some = q.row_range(row, std::min(most, q.rows - row));
    const auto step = [&](uint32_t steps, int64_t first1, int64_t end1, int64_t first2, int64_t end2) {
      select_step(some, compressed, shape, first_position + row, steps, {first1, end1, first2, end2}, at,
                  list.row_range(row * heads.kv, some.rows * heads.kv));
    };
    if (std::max(k1, k2) <= together) {
      step(shared::kSelectAll, 0, k1, 0, k2);
      continue;
    }
    for (int64_t first = 0; first < k2; first += together)
      step(shared::kSelectNormalise, 0, 0, first, std::min(first + together, k2));
    for (int64_t first = 0; first < k1; first += together)
      step(shared::kSelectScore, first, std::min(first + together, k1), 0, 0);
    step(shared::kSelectChoose, 0, 0, 0, 0);
  }
  return {list.buffer, list.offset * sizeof(float), list.rows, list.cols};
}

void VulkanBackend::select_step(const Tensor& q, const CompressedKeys& compressed, const BlockSparse& shape,
                                int64_t first_position, uint32_t steps, const KeyWindows& bound, const Selection& at,
                                const Tensor& list) {
  const auto [query, kv, dim] = shape.heads;
  const int64_t rows = q.rows * kv;
  const shared::SelectWindowParams p{
      .all = kernel_args::select(q, compressed, shape, first_position, at.scores, at.pooled),
      .first1 = narrow(bound.first1),
      .end1 = narrow(bound.end1),
      .first2 = narrow(bound.first2),
      .end2 = narrow(bound.end2)};
  const auto keys = [&](Buffer& buffer, int64_t first, int64_t end) {
    const auto bytes = static_cast<size_t>(kv * dim) * sizeof(float);
    return part_of(buffer, static_cast<size_t>(first) * bytes, static_cast<size_t>(end - first) * bytes, Access::read);
  };
  const auto some = [&](const Tensor& t) { return t.row_range(0, rows); };
  run("block_select", Constants().set(kSelectSteps, steps),
      {reads(q), keys(*compressed.k1, bound.first1, bound.end1), keys(*compressed.k2, bound.first2, bound.end2),
       updates(some(at.scores)), writes(some(at.pooled)), writes(some(at.ranks)),
       updates(at.normalisers.row_range(0, q.rows * query)), writes(list)},
      p, groups(static_cast<size_t>(rows), 1, kSelectThreads));
}

Tensor VulkanBackend::block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) {
  const auto [query, kv, dim] = shape.heads;
  assert(blocks.rows == q.rows * kv);
  const Tensor o = scratch(q.rows, q.cols);
  AttentionParams p = kernel_args::attention(q, o, shape.heads, cache, shape.scale);
  p.topk = narrow(blocks.topk);
  p.block = narrow(shape.block);
  const auto seen = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length) * p.key_row_bytes, Access::read);
  };
  attend(q, seen(*cache.keys), seen(*cache.values), p,
         Constants().set(kDim, narrow(dim)).set(kCausal, 1).set(kSparse, 1).set(kCacheType, cache_type(cache.type)),
         cache.length,
         part_of(*blocks.blocks, blocks.offset, static_cast<size_t>(blocks.rows * blocks.topk) * 4, Access::read), o);
  return o;
}

}  // namespace longhand::vulkan
