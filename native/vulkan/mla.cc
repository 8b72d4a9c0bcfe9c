#include <algorithm>

#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;
using shared::kLatentSlice;
using shared::LatentWindowParams;

namespace {

size_t slices(int64_t width) { return static_cast<size_t>((width + kLatentSlice - 1) / kLatentSlice); }

}  // namespace

Tensor VulkanBackend::mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                                    LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const auto [rope_width, latent_width] = cache.layout;
  const int64_t absorbed_width = shape.rope_dim + shape.latent_k;
  const Tensor o = scratch(p.rows, query * dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const MlaParams params = kernel_args::mla(p, o, shape, positions.size(), cache);
  const Constants constants = Constants().set(kCacheType, cache_type(cache.type));
  const auto rows = [](Buffer& buffer, int64_t first, int64_t end, int64_t bytes, Access access) {
    return part_of(buffer, static_cast<size_t>(first * bytes), static_cast<size_t>((end - first) * bytes), access);
  };
  const auto from = [&](int64_t row, int64_t count) {
    const int64_t first = static_cast<int64_t>(list.offset) + row;
    return rows(*list.buffer, first, first + count, sizeof(int32_t), Access::read);
  };
  const int64_t seen = cache.length + p.rows, bound = cache.length / 2 * 2;  // rows of an even number begin at a word
  MlaParams appended = params;
  appended.past = narrow(cache.length - bound);
  run("mla_store", constants,
      {reads(p), reads(shape.retained), reads(shape.rope.inv_freq), from(0, p.rows),
       rows(*cache.rope_keys, bound, seen, params.rope_row_bytes, Access::update),
       rows(*cache.latents, bound, seen, params.latent_row_bytes, Access::update)},
      appended, groups(slices(rope_width) + slices(latent_width), static_cast<size_t>(p.rows), 64));

  const int64_t width = shape.latent_v + 2;
  const SplitKeys cut = split(seen, rows_in_binding(std::max(params.rope_row_bytes, params.latent_row_bytes)),
                              kAttentionSplit, p.rows, query * width);
  const int64_t at_once =
      std::min(cut.rows, rows_at_once(query * std::max(absorbed_width, int64_t{shape.latent_v}), p.rows));
  const Tensor absorbed = scratch(at_once * query, absorbed_width), sums = scratch(at_once * query, shape.latent_v);
  const Tensor parts = cut.parts == 1 ? sums : scratch(cut.parts * at_once * query, width);
  for (int64_t row = 0; row < p.rows; row += at_once) {
    const int64_t count = std::min(at_once, p.rows - row);
    const auto tokens = static_cast<size_t>(count), heads = static_cast<size_t>(query);
    LatentWindowParams window{
        .all = params, .splits = narrow(cut.parts), .split_keys = narrow(cut.keys), .first_split = 0};
    window.all.tokens = narrow(count);
    window.all.past = narrow(cache.length + row);
    const Tensor queries = absorbed.row_range(0, count * query), weighted = sums.row_range(0, count * query);
    const Tensor to = cut.parts == 1 ? weighted : parts.row_range(0, cut.parts * count * query);
    Grid absorbing = elements(static_cast<size_t>(absorbed_width), heads, 128);
    absorbing.groups[2] = tokens;
    run("mla_absorb", Constants().set(kScaleType, kernel_args::element_type(shape.up_k)),
        {reads(p.row_range(row, count)), reads(shape.up_k.values), reads(shape.retained), reads(shape.rest),
         reads(shape.rope.inv_freq), from(row, count), writes(queries)},
        window.all, absorbing);
    for (int64_t first = 0; first < cut.parts; first += cut.a_window) {
      const int64_t some = std::min(cut.a_window, cut.parts - first);
      const int64_t begin = first * cut.keys, end = std::min(seen, (first + some) * cut.keys);
      window.first_split = narrow(first);
      run("mla_attention", constants,
          {reads(queries), rows(*cache.rope_keys, begin, end, params.rope_row_bytes, Access::read),
           rows(*cache.latents, begin, end, params.latent_row_bytes, Access::read), writes(to)},
          window,
          Grid{{heads * slices(shape.latent_v), tokens, static_cast<size_t>(some)},
               device_->threads_for(128),
               4.0 * static_cast<double>((end - begin) * count * query) * static_cast<double>(latent_width)});
    }
    if (cut.parts > 1)
      run("mla_combine", Constants(), {reads(to), writes(weighted)}, window, groups(heads, tokens, 128));
    run("mla_expand", Constants().set(kScaleType, kernel_args::element_type(shape.up_v)),
        {reads(weighted), reads(shape.up_v.values), writes(o.row_range(row, count))}, window.all,
        groups(heads, tokens, 128));
  }
  cache.length += p.rows;
  return o;
}

}  // namespace longhand::vulkan
