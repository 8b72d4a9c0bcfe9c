#include <algorithm>

#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;
using shared::AttentionWindowParams;

namespace {

constexpr uint32_t least_threads = 64;
constexpr int64_t most_part_bytes = int64_t{32} << 20;  // what parts of query rows may take before they are merged
constexpr int64_t key_tile = 64;                        // keys a workgroup looks at together: attention.glsl
// A few tokens have nothing but keys to share out: a workgroup takes one tile of them, several once the parts of a long
// context would take longer to merge than to compute.
constexpr int64_t few_tokens = kMatvecTokens, long_context = 16384, long_part = 256;
constexpr int64_t wanted_groups = 256;  // before query rows share what a workgroup reads

int64_t keys_a_part(int64_t tokens, int64_t keys) {
  if (tokens > few_tokens) return kAttentionSplit;
  return keys > long_context ? long_part : key_tile;
}

}  // namespace

// `at_once` keys a part, fewer where a binding does not hold them; a query row's part is `row_floats` long.
VulkanBackend::SplitKeys VulkanBackend::split(int64_t keys, int64_t keys_in_binding, int64_t at_once, int64_t rows,
                                              int64_t row_floats) const {
  const int64_t whole = keys_in_binding < key_tile ? keys_in_binding : keys_in_binding / key_tile * key_tile;
  SplitKeys out{.keys = std::min(at_once, whole), .parts = 1, .a_window = 1, .rows = rows};
  out.parts = std::max<int64_t>((keys + out.keys - 1) / out.keys, 1);
  if (out.parts == 1) return out;
  out.a_window = std::max<int64_t>(keys_in_binding / out.keys, 1);
  out.rows = rows_at_once(out.parts * row_floats, rows);
  return out;
}

int64_t VulkanBackend::rows_at_once(int64_t row_floats, int64_t rows) const {
  const int64_t room = std::min(static_cast<int64_t>(device_->limits().fit()), most_part_bytes);
  return std::clamp<int64_t>(room / (row_floats * static_cast<int64_t>(sizeof(float))), 1, rows);
}

void VulkanBackend::attend(const Tensor& q, const Argument& keys, const Argument& values, const AttentionParams& given,
                           const Constants& shape, int64_t keys_seen, const Argument& blocks, const Tensor& o) {
  AttentionParams p = given;
  const uint32_t dim = shape.values()[kDim];
  const bool sparse = shape.values()[kSparse], causal = shape.values()[kCausal];
  assert(static_cast<int64_t>(dim) <= gpu_shapes.head);
  // A list of blocks is walked over by one workgroup, whatever the context: only a binding can part its keys.
  const int64_t fitting = rows_in_binding(p.key_row_bytes);
  const SplitKeys cut =
      split(keys_seen, fitting, sparse ? std::min(keys_seen, fitting) : keys_a_part(q.rows, keys_seen), q.rows,
            p.query * (dim + 2));
  p.splits = narrow(cut.parts);
  p.split_keys = narrow(cut.keys);
  // Keys and values are read once for all heads of a group, and in prefill for neighbouring tokens too, unless one
  // token over a short context wants every workgroup it can get.
  uint32_t heads = 1;
  for (uint32_t n = 2; n <= kAttentionRows; n++)
    if (p.group % n == 0 && (p.tokens > 1 || cut.parts * p.query >= wanted_groups * n)) heads = n;
  const uint32_t tokens = p.tokens == 1 || sparse ? 1 : kAttentionRows / heads;
  const Constants constants = Constants(shape).set(kHeads, heads).set(kTokens, tokens);
  const uint32_t threads = device_->threads_for(std::max<uint32_t>(dim, least_threads));
  const auto part_from = [&](const Argument& whole, int64_t first, int64_t count) {
    const auto split_bytes = static_cast<size_t>(cut.keys) * p.key_row_bytes;
    const size_t begin = static_cast<size_t>(first) * split_bytes;
    return Argument{whole.buffer, whole.offset + begin,
                    std::min(whole.bytes - begin, static_cast<size_t>(count) * split_bytes), whole.access};
  };
  // Keys and values that do not fit into one binding are walked over in windows of whole parts.
  const auto walk = [&](const Tensor& rows, const Argument& lists, const Tensor& to) {
    for (int64_t first = 0; first < cut.parts; first += cut.a_window) {
      const int64_t count = std::min(cut.a_window, cut.parts - first);
      const bool all = count == cut.parts;
      const AttentionWindowParams window{.all = p,
                                         .first_key = narrow(first * cut.keys),
                                         .end_key = all ? UINT32_MAX : narrow((first + count) * cut.keys),
                                         .first_split = narrow(first)};
      const double walked = sparse ? static_cast<double>(p.topk) * p.block : static_cast<double>(keys_seen);
      run("attention", constants,
          {reads(rows), all ? keys : part_from(keys, first, count), all ? values : part_from(values, first, count),
           lists, writes(to)},
          window,
          Grid{{p.query / heads, (p.tokens + tokens - 1) / tokens, static_cast<size_t>(count)},
               threads,
               4.0 * walked * p.query * p.tokens * dim * static_cast<double>(count) / p.splits});
    }
  };
  if (p.splits == 1) {
    walk(q, blocks, o);
    return;
  }
  const Tensor parts = scratch(cut.parts * cut.rows * p.query, dim + 2);
  const size_t list_bytes = static_cast<size_t>(p.query / p.group) * p.topk * sizeof(int32_t);  // of a token
  for (int64_t row = 0; row < q.rows; row += cut.rows) {
    const int64_t count = std::min(cut.rows, q.rows - row);
    p.tokens = narrow(count);
    p.first_visible = given.first_visible + (causal ? narrow(row) : 0);
    const Argument lists{blocks.buffer, blocks.offset + static_cast<size_t>(row) * list_bytes,
                         static_cast<size_t>(count) * list_bytes, Access::read};
    const Tensor some = parts.row_range(0, cut.parts * count * p.query);
    walk(q.row_range(row, count), lists, some);
    run("attention_combine", constants, {reads(some), writes(o.row_range(row, count))}, p,
        groups(p.query, p.tokens, 64));
  }
}

Tensor VulkanBackend::attention(Tensor q, const KvCache& cache, const Attention& shape) {
  const Heads& heads = shape.heads;
  const Tensor o = scratch(q.rows, q.cols);
  const AttentionParams p = kernel_args::attention(q, o, heads, cache, shape.scale);
  const auto seen = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length) * p.key_row_bytes, Access::read);
  };
  attend(q, seen(*cache.keys), seen(*cache.values), p,
         Constants().set(kDim, narrow(heads.dim)).set(kCausal, 1).set(kCacheType, cache_type(cache.type)), cache.length,
         unused(q), o);
  return o;
}

Tensor VulkanBackend::attention_bidirectional(Tensor p, const Attention& shape, std::span<const int32_t> lengths) {
  const Tensor all = scratch(p.rows, shape.heads.query * shape.heads.dim);
  kernel_args::each_text(p, all, shape, lengths,
                         [&](Tensor text, Tensor q, Tensor k, Tensor v, Tensor o, const AttentionParams& params) {
                           attend(q, reads(k), reads(v), params, Constants().set(kDim, narrow(shape.heads.dim)),
                                  text.rows, unused(text), o);
                         });
  return all;
}

}  // namespace longhand::vulkan
