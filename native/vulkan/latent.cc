#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;

Tensor VulkanBackend::latent_attention(Tensor p, const LatentAttention& shape, std::span<const int32_t> positions,
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
  const Constants constants = Constants().set(kCacheType, cache_type(cache.type));
  run("latent_store", constants,
      {reads(p), reads(shape.kept), reads(shape.rope.inv_freq), reads(list),
       rows(*cache.rope_keys, params.rope_row_bytes, Access::write),
       rows(*cache.latents, params.latent_row_bytes, Access::write)},
      params, groups(2, static_cast<size_t>(p.rows), 64));
  run("latent_attention", constants,
      {reads(p), reads(shape.kept), reads(shape.rope.inv_freq), reads(list),
       rows(*cache.rope_keys, params.rope_row_bytes, Access::read),
       rows(*cache.latents, params.latent_row_bytes, Access::read), reads(shape.up_k), reads(shape.up_v),
       reads(shape.rest), writes(o)},
      params, groups(static_cast<size_t>(query), static_cast<size_t>(p.rows), 128));
  cache.length += p.rows;
  return o;
}

}  // namespace longhand::vulkan
