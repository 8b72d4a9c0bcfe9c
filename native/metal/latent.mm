#include "metal/backend.h"
#include "metal/cache.h"

namespace longhand::metal {

using namespace params;

Tensor MetalBackend::latent_attention(Tensor p, const LatentAttention& shape, std::span<const int32_t> positions,
                                      LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const Tensor o = scratch(p.rows, query * dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const LatentParams params = arguments::latent(p, o, shape, positions.size(), cache);
  const auto rows = [&](Buffer& buffer, size_t row_bytes, Access access) {
    return part_of(buffer, 0, static_cast<size_t>(cache.length + p.rows) * row_bytes, access);
  };
  const char* layout = cache_layout(cache.type);
  run(Kernel{"latent", "latent_store", layout}, Constants{},
      {reads(p), reads(shape.kept), reads(shape.rope.inv_freq), reads(list),
       rows(*cache.rope_keys, params.rope_row_bytes, Access::write),
       rows(*cache.latents, params.latent_row_bytes, Access::write)},
      params, Grid{{2, static_cast<size_t>(p.rows), 1}, {32, 1, 1}});
  run(Kernel{"latent", "latent_attention", layout}, Constants{},
      {reads(p), reads(shape.up_k), reads(shape.up_v), reads(shape.kept), reads(shape.rest), reads(shape.rope.inv_freq),
       reads(list), rows(*cache.rope_keys, params.rope_row_bytes, Access::read),
       rows(*cache.latents, params.latent_row_bytes, Access::read), writes(o)},
      params, Grid{{static_cast<size_t>(query), static_cast<size_t>(p.rows), 1}, {128, 1, 1}});
  cache.length += p.rows;
  return o;
}

}  // namespace longhand::metal
