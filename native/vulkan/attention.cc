#include <algorithm>

#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;
using shared::AttentionWindowParams;

namespace {
constexpr uint32_t least_threads = 64;
}

// Split over keys when a context is long: one more dispatch merges the parts.
void VulkanBackend::attend(const Tensor& q, const Argument& keys, const Argument& values, const AttentionParams& given,
                           const Constants& shape, int64_t keys_seen, const Argument& blocks, const Tensor& o) {
  AttentionParams p = given;
  const uint32_t dim = shape.values()[kDim];
  assert(dim <= 512);
  p.splits = narrow((keys_seen + kAttentionSplit - 1) / kAttentionSplit);
  p.split_keys = kAttentionSplit;
  // One token over a short context wants every threadgroup it can get; otherwise keys and values are read once for all
  // heads of a group, and in prefill for neighbouring tokens too.
  uint32_t heads = 1;
  if (p.tokens > 1 || p.splits > 1)
    for (uint32_t n = 2; n <= kAttentionRows; n++)
      if (p.group % n == 0) heads = n;
  const uint32_t tokens = p.tokens == 1 || shape.values()[kSparse] ? 1 : kAttentionRows / heads;
  const Constants constants = Constants(shape).set(kHeads, heads).set(kTokens, tokens);
  const uint32_t threads = device_->threads_for(std::max<uint32_t>(dim, least_threads));
  // Keys and values that do not fit into one binding are walked over in windows of whole splits.
  const uint64_t split_bytes = static_cast<uint64_t>(p.key_row_bytes) * kAttentionSplit;
  const uint32_t most = static_cast<uint32_t>(
      std::clamp<uint64_t>((device_->limits().range - device_->limits().alignment) / split_bytes, 1, p.splits));
  const auto part_from = [&](const Argument& whole, uint32_t first, uint32_t count) {
    const size_t begin = static_cast<size_t>(first * split_bytes);
    return Argument{whole.buffer, whole.offset + begin,
                    std::min(whole.bytes - begin, static_cast<size_t>(count * split_bytes)), whole.access};
  };
  const auto walk = [&](const Tensor& to) {
    for (uint32_t first = 0; first < p.splits; first += most) {
      const uint32_t count = std::min(most, p.splits - first);
      const bool all = count == p.splits;
      const AttentionWindowParams window{.all = p,
                                         .first_key = first * kAttentionSplit,
                                         .end_key = all ? UINT32_MAX : (first + count) * kAttentionSplit,
                                         .first_split = first};
      const double work = 4.0 * static_cast<double>(keys_seen) * p.query * p.tokens * dim * count / p.splits;
      run("attention", constants,
          {reads(q), all ? keys : part_from(keys, first, count), all ? values : part_from(values, first, count), blocks,
           writes(to)},
          window, Grid{{p.query / heads, (p.tokens + tokens - 1) / tokens, count}, threads, work});
    }
  };
  if (p.splits == 1) {
    walk(o);
    return;
  }
  const Tensor parts = scratch(static_cast<int64_t>(p.splits) * p.tokens * p.query, dim + 2);
  walk(parts);
  run("attention_combine", constants, {reads(parts), writes(o)}, p, groups(p.query, p.tokens, 64));
}

Tensor VulkanBackend::attention(Tensor q, const KvCache& cache, const Attention& shape) {
  const Heads& heads = shape.heads;
  assert(q.cols == heads.query * heads.dim && q.rows <= cache.length);
  const Tensor o = scratch(q.rows, q.cols);
  const AttentionParams p{.tokens = narrow(q.rows),
                          .query = narrow(heads.query),
                          .group = narrow(heads.query / heads.kv),
                          .q_stride = narrow(q.stride),
                          .o_stride = narrow(o.stride),
                          .first_visible = narrow(cache.length - q.rows + 1),
                          .splits = 1,
                          .split_keys = 0,
                          .key_row_bytes = narrow(cache_row_bytes(cache.type, heads.kv, heads.dim)),
                          .head_bytes = narrow(cache_row_bytes(cache.type, 1, heads.dim)),
                          .topk = 0,
                          .block = 1,
                          .scale = shape.scale};
  const auto seen = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length) * p.key_row_bytes, Access::read);
  };
  attend(q, seen(*cache.keys), seen(*cache.values), p,
         Constants().set(kDim, narrow(heads.dim)).set(kCausal, 1).set(kCacheType, cache_type(cache.type)), cache.length,
         unused(q), o);
  return o;
}

// An encoder's keys and values are columns of the packed projection: a cache of fp32 rows like any other.
Tensor VulkanBackend::attention_bidirectional(Tensor p, const Attention& shape) {
  const auto [query, kv, dim] = shape.heads;
  assert(p.cols == (query + 2 * kv) * dim);
  const Tensor o = scratch(p.rows, query * dim);
  const AttentionParams params{.tokens = narrow(p.rows),
                               .query = narrow(query),
                               .group = narrow(query / kv),
                               .q_stride = narrow(p.stride),
                               .o_stride = narrow(o.stride),
                               .first_visible = narrow(p.rows),
                               .splits = 1,
                               .split_keys = 0,
                               .key_row_bytes = narrow(p.stride * static_cast<int64_t>(sizeof(float))),
                               .head_bytes = narrow(dim * static_cast<int64_t>(sizeof(float))),
                               .topk = 0,
                               .block = 1,
                               .scale = shape.scale};
  const Tensor q = p.columns(0, query * dim), k = p.columns(query * dim, kv * dim),
               v = p.columns((query + kv) * dim, kv * dim);
  attend(q, reads(k), reads(v), params, Constants().set(kDim, narrow(dim)), p.rows, unused(p), o);
  return o;
}

}  // namespace longhand::vulkan
