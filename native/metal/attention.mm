#include <algorithm>

#include "metal/backend.h"
#include "metal/cache.h"

namespace longhand::metal {

using namespace params;

// Whether 32 rows at a time pay: enough of them to fill the GPU, and a head that 8 x 8 matrices cover.
bool MetalBackend::fits_tiles(const AttentionParams& p, const Constants& shape, int64_t keys_seen) const {
  const int64_t tokens = whole_of(p.tokens);
  const uint32_t dim = shape.values()[kDim];
  if (shape.values()[kSparse] || dim % (dim > 128 ? 16 : 8) != 0 || dim > 256 || tokens <= kMatvecTokens) return false;
  return keys_seen + pass_.left <= kAttentionSplit || tokens * p.query >= 16 * kAttentionTile;
}

// Keys of one split of one token's attention: few enough to occupy `groups` threadgroups, but never so few that
// merging costs more than it gains. `heads` share a threadgroup.
static int64_t split_for(int64_t groups, const AttentionParams& p, uint32_t heads, int64_t keys_seen) {
  constexpr int64_t least = 64, from = 256;
  const int64_t splits = groups * heads / p.query;
  if (splits <= 1 || keys_seen <= from) return kAttentionSplit;
  const int64_t each = (keys_seen + splits - 1) / splits;
  return std::clamp<int64_t>((each + kAttentionSimdgroups - 1) / kAttentionSimdgroups * kAttentionSimdgroups, least,
                             kAttentionSplit);
}

// Split over keys when a context is long: one more dispatch merges the parts.
void MetalBackend::attend(const Tensor& q, const Argument& keys, const Argument& values, const char* layout,
                          const AttentionParams& given, const Constants& shape, int64_t keys_seen,
                          const Argument& blocks, const Tensor& o) {
  AttentionParams p = given;
  const uint32_t dim = shape.values()[kDim];
  assert(static_cast<int64_t>(dim) <= gpu_shapes.head);
  if (fits_tiles(p, shape, keys_seen)) {
    uint32_t beside = 1;
    for (uint32_t n = 2; n <= kAttentionTileHeads; n *= 2)
      if (p.group % n == 0) beside = n;
    const uint32_t tokens = kAttentionTile / beside;
    // Every argument in threadgroup memory has a length, also where the kernel does not use it.
    const size_t rest = dim > 256 - kAttentionRest ? kAttentionTile * (kAttentionRest + 8) * sizeof(float) : 16;
    run(Kernel{"attention_tile", "attention_tile", layout}, Constants(shape).set(kHeads, beside),
        {reads(q), keys, values, writes(o)}, p,
        Grid{{p.query / beside, (p.tokens + tokens - 1) / tokens, dim > 128 ? 2u : 1u},
             {128, 1, 1},
             rest,
             4.0 * static_cast<double>(keys_seen) * p.query * p.tokens * dim});
    return;
  }
  uint32_t group = 1;  // heads that share keys and values
  for (uint32_t n = 2; n <= kAttentionRows; n++)
    if (p.group % n == 0) group = n;
  const bool spread = p.tokens == 1 && !shape.values()[kSparse] && tuning_.attention_groups > 0;
  p.split_keys = spread ? narrow(split_for(tuning_.attention_groups, p, group, keys_seen)) : kAttentionSplit;
  p.splits = narrow((keys_seen + p.split_keys - 1) / p.split_keys);
  // One token over a short context may want every threadgroup it can get; otherwise keys and values are read once for
  // all heads of a group, and in prefill for neighbouring tokens too.
  const uint32_t heads = p.tokens > 1 || p.splits > 1 || tuning_.attention_shared != 0 ? group : 1;
  const uint32_t tokens = p.tokens == 1 || shape.values()[kSparse] ? 1 : kAttentionRows / heads;
  const Constants constants = Constants(shape).set(kHeads, heads).set(kTokens, tokens);
  const Grid grid{{p.query / heads, (p.tokens + tokens - 1) / tokens, p.splits},
                  {static_cast<size_t>(kAttentionSimdgroups) * 32, 1, 1},
                  static_cast<size_t>(kAttentionSimdgroups) * (dim + 4) * sizeof(float),
                  4.0 * static_cast<double>(keys_seen) * p.query * p.tokens * dim};
  if (p.splits == 1) {
    run(Kernel{"attention", "attention", layout}, constants, {reads(q), keys, values, blocks, writes(o)}, p, grid);
    return;
  }
  const Tensor parts = scratch(static_cast<int64_t>(p.splits) * p.tokens * p.query, dim + 2);
  run(Kernel{"attention", "attention", layout}, constants, {reads(q), keys, values, blocks, writes(parts)}, p, grid);
  run(Kernel{"attention", "attention_combine", layout}, constants, {reads(parts), writes(o)}, p,
      Grid{{p.query, p.tokens, 1}, {32, 1, 1}});
}

Tensor MetalBackend::attention(Tensor q, const KvCache& cache, const Attention& shape) {
  const Heads& heads = shape.heads;
  const Tensor o = scratch(q.rows, q.cols);
  const AttentionParams p = kernel_args::attention(q, o, heads, cache, shape.scale);
  const auto seen = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length) * p.key_row_bytes, Access::read);
  };
  attend(q, seen(*cache.keys), seen(*cache.values), cache_layout(cache.type), p,
         Constants().set(kDim, narrow(heads.dim)).set(kCausal, 1), cache.length, unused(q), o);
  return o;
}

Tensor MetalBackend::attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) {
  const Tensor all = scratch(p.rows, shape.heads.query * shape.heads.dim);
  kernel_args::each_text(p, all, shape, lengths,
                         [&](Tensor text, Tensor q, Tensor k, Tensor v, Tensor o, const AttentionParams& params) {
                           attend(q, reads(k), reads(v), cache_layout(CacheType::f32), params,
                                  Constants().set(kDim, narrow(shape.heads.dim)), text.rows, unused(text), o);
                         });
  return all;
}

}  // namespace longhand::metal
