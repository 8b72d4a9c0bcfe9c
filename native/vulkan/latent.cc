#include <algorithm>

#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;
using shared::LatentWindowParams;

Tensor VulkanBackend::latent_attention(Tensor p, const LatentAttention& shape, std::span<const int32_t> positions,
                                       LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const auto [rope_width, latent_width] = cache.layout;
  const Tensor o = scratch(p.rows, query * dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const LatentParams params = arguments::latent(p, o, shape, positions.size(), cache);
  const Constants constants = Constants().set(kCacheType, cache_type(cache.type));
  const auto rows = [](Buffer& buffer, int64_t first, int64_t end, int64_t bytes, Access access) {
    return part_of(buffer, static_cast<size_t>(first * bytes), static_cast<size_t>((end - first) * bytes), access);
  };
  const int64_t seen = cache.length + p.rows, bound = cache.length / 2 * 2;  // rows of an even number begin at a word
  LatentParams appended = params;
  appended.past = narrow(cache.length - bound);
  run("latent_store", constants,
      {reads(p), reads(shape.kept), reads(shape.rope.inv_freq), reads(list),
       rows(*cache.rope_keys, bound, seen, params.rope_row_bytes, Access::update),
       rows(*cache.latents, bound, seen, params.latent_row_bytes, Access::update)},
      appended, groups(2, static_cast<size_t>(p.rows), 64));
  const int64_t width = shape.latent_v + 2;
  const SplitKeys cut = split(seen, rows_in_binding(std::max(params.rope_row_bytes, params.latent_row_bytes)),
                              kAttentionSplit, p.rows, query * width);
  // From query row `row` on, `count` of them, into their parts or straight into o.
  const auto walk = [&](int64_t row, int64_t count, const Tensor& to) {
    LatentWindowParams window{
        .all = params, .splits = narrow(cut.parts), .split_keys = narrow(cut.keys), .first_split = 0};
    window.all.tokens = narrow(count);
    window.all.past = narrow(cache.length + row);
    for (int64_t first = 0; first < cut.parts; first += cut.a_window) {
      const int64_t parts = std::min(cut.a_window, cut.parts - first);
      const int64_t begin = first * cut.keys, end = std::min(seen, (first + parts) * cut.keys);
      window.first_split = narrow(first);
      run("latent_attention", constants,
          {reads(p.row_range(row, count)), reads(shape.kept), reads(shape.rope.inv_freq),
           rows(*list.buffer, static_cast<int64_t>(list.offset) + row, static_cast<int64_t>(list.offset) + row + count,
                sizeof(int32_t), Access::read),
           rows(*cache.rope_keys, begin, end, params.rope_row_bytes, Access::read),
           rows(*cache.latents, begin, end, params.latent_row_bytes, Access::read), reads(shape.up_k),
           reads(shape.up_v), reads(shape.rest), writes(to)},
          window,
          Grid{{static_cast<size_t>(query), static_cast<size_t>(count), static_cast<size_t>(parts)},
               device_->threads_for(128),
               4.0 * static_cast<double>((end - begin) * count * query) * static_cast<double>(latent_width)});
    }
  };
  if (cut.parts == 1) walk(0, p.rows, o);
  const Tensor parts = cut.parts == 1 ? o : scratch(cut.parts * cut.rows * query, width);
  for (int64_t row = 0; cut.parts > 1 && row < p.rows; row += cut.rows) {
    const int64_t count = std::min(cut.rows, p.rows - row);
    const Tensor some = parts.row_range(0, cut.parts * count * query);
    walk(row, count, some);
    LatentWindowParams merged{.all = params, .splits = narrow(cut.parts), .split_keys = 0, .first_split = 0};
    merged.all.tokens = narrow(count);
    run("latent_combine", constants, {reads(some), reads(shape.up_v), writes(o.row_range(row, count))}, merged,
        groups(static_cast<size_t>(query), static_cast<size_t>(count), 128));
  }
  cache.length += p.rows;
  return o;
}

}  // namespace longhand::vulkan
