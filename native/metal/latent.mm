#include "metal/backend.h"
#include "metal/cache.h"

namespace longhand::metal {

using namespace params;

Tensor MetalBackend::latent_attention(Tensor p, const LatentAttention& shape, std::span<const int32_t> positions,
                                      LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const auto [rope_width, latent_width] = cache.layout;
  assert(rope_width == kv * shape.rope_dim && p.cols == query * dim + rope_width + latent_width);
  assert(cache.length + p.rows <= cache.capacity && static_cast<int64_t>(positions.size()) >= p.rows);
  assert(rope_width <= 1024 && latent_width <= 1024 && shape.latent_v <= 512 && shape.rope_dim <= 512);
  const Tensor o = scratch(p.rows, query * dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const LatentParams params{.tokens = narrow(p.rows),
                            .query = narrow(query),
                            .kv = narrow(kv),
                            .dim = narrow(dim),
                            .rope_dim = narrow(shape.rope_dim),
                            .latent_k = narrow(shape.latent_k),
                            .latent_v_first = narrow(shape.latent_v_first),
                            .latent_v = narrow(shape.latent_v),
                            .rope_width = narrow(rope_width),
                            .latent_width = narrow(latent_width),
                            .p_stride = narrow(p.stride),
                            .o_stride = narrow(o.stride),
                            .past = narrow(cache.length),
                            .rope_row_bytes = narrow(cache_row_bytes(cache.type, 1, rope_width)),
                            .latent_row_bytes = narrow(cache_row_bytes(cache.type, 1, latent_width)),
                            .scale = shape.scale,
                            .attention_scale = shape.rope.attention_scale};
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
