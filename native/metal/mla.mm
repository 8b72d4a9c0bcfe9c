#include <algorithm>

#include "metal/backend.h"
#include "metal/cache.h"

namespace longhand::metal {

using namespace params;

// Maximum memory for the queries and sums of rows that are processed together.
static constexpr int64_t most_latent_bytes = int64_t{64} << 20;

static size_t slices(int64_t width) { return static_cast<size_t>((width + kLatentSlice - 1) / kLatentSlice); }

Tensor MetalBackend::mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                                   LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const auto [rope_width, latent_width] = cache.layout;
  const int64_t absorbed_width = shape.rope_dim + shape.latent_k;
  const Tensor o = scratch(p.rows, query * dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const MlaParams params = kernel_args::mla(p, o, shape, positions.size(), cache);
  const auto rows = [&](Buffer& buffer, size_t row_bytes, Access access) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length + p.rows) * row_bytes, access);
  };
  const auto from = [&](int64_t row, int64_t count) {
    return part_of(*list.buffer, (list.offset + static_cast<size_t>(row)) * sizeof(int32_t),
                   static_cast<size_t>(count) * sizeof(int32_t), Access::read);
  };
  const char* layout = cache_layout(cache.type);
  run(Kernel{"mla", "mla_store", layout}, Constants{},
      {reads(p), reads(shape.retained), reads(shape.rope.inv_freq), from(0, p.rows),
       rows(*cache.rope_keys, params.rope_row_bytes, Access::write),
       rows(*cache.latents, params.latent_row_bytes, Access::write)},
      params, Grid{{slices(rope_width) + slices(latent_width), static_cast<size_t>(p.rows), 1}, {32, 1, 1}});

  const int64_t row_bytes = query * (absorbed_width + shape.latent_v) * static_cast<int64_t>(sizeof(float));
  const int64_t at_once = std::clamp<int64_t>(most_latent_bytes / row_bytes, 1, p.rows);
  const Tensor absorbed = scratch(at_once * query, absorbed_width), sums = scratch(at_once * query, shape.latent_v);
  for (int64_t row = 0; row < p.rows; row += at_once) {
    const int64_t count = std::min(at_once, p.rows - row);
    const auto tokens = static_cast<size_t>(count), heads = static_cast<size_t>(query);
    MlaParams some = params;
    some.tokens = narrow(count);
    some.past = narrow(cache.length + row);
    const Tensor queries = absorbed.row_range(0, count * query), weighted = sums.row_range(0, count * query);
    run(Kernel{"mla", "mla_absorb", layout}, Constants().set(kScaleType, kernel_args::element_type(shape.up_k)),
        {reads(p.row_range(row, count)), reads(shape.up_k.values), reads(shape.retained), reads(shape.rest),
         reads(shape.rope.inv_freq), from(row, count), writes(queries)},
        some, Grid{{(static_cast<size_t>(absorbed_width) + 127) / 128, heads, tokens}, {128, 1, 1}});
    run(Kernel{"mla", "mla_attention", layout}, Constants{},
        {reads(queries), rows(*cache.rope_keys, params.rope_row_bytes, Access::read),
         rows(*cache.latents, params.latent_row_bytes, Access::read), writes(weighted)},
        some,
        Grid{{heads, tokens, slices(shape.latent_v)},
             {128, 1, 1},
             0,
             4.0 * static_cast<double>((cache.length + p.rows) * count * query) * static_cast<double>(latent_width)});
    run(Kernel{"mla", "mla_expand", layout}, Constants().set(kScaleType, kernel_args::element_type(shape.up_v)),
        {reads(weighted), reads(shape.up_v.values), writes(o.row_range(row, count))}, some,
        Grid{{(static_cast<size_t>(dim) + 3) / 4, heads, tokens}, {128, 1, 1}});
  }
  cache.length += p.rows;
  return o;
}

}  // namespace longhand::metal
