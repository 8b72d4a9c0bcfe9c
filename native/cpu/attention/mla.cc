// Latent attention (MHA2MLA, arXiv 2502.14837), absorbed: the cache holds the rotated part of the keys and a latent
// vector; W_up_k moves into the query, W_up_v behind the weighted sum of latents.
//   score = scale * (q_rope . k_rope + (W_up_k^T q_rest) . latent)        o = W_up_v sum_j p_j latent_j
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/attention/cache.h"
#include "cpu/backend.h"

namespace longhand::cpu {
namespace {

// Rotate-half inside the retained dims (j with j + rope_dim / 2), each with the angle of the dim it comes from.
void rotate_retained(const MlaAttention& shape, const int32_t* retained, int32_t position, float* x) {
  const int64_t half = shape.rope_dim / 2, frequencies = shape.heads.dim / 2;
  const auto angle = [&](int64_t j) {
    return static_cast<float>(position) * floats(shape.rope.inv_freq)[retained[j] % frequencies];
  };
  for (int64_t j = 0; j < half; ++j) {
    const float a = x[j], b = x[j + half];
    x[j] = (a * std::cos(angle(j)) - b * std::sin(angle(j))) * shape.rope.attention_scale;
    x[j + half] = (b * std::cos(angle(j + half)) + a * std::sin(angle(j + half))) * shape.rope.attention_scale;
  }
}

// Row `index` of a matrix in fp32: where it stands, or converted into `to`.
const float* plain_row(const Kernels& kernels, const PlainMatrix& matrix, int64_t index, int64_t cols,
                       std::vector<float>& to) {
  if (matrix.type == DType::f32) return floats(matrix.values) + index * cols;
  to.resize(static_cast<size_t>(cols));
  const std::byte* from = matrix.values->host() + index * cols * 2;
  (matrix.type == DType::f16 ? kernels.from_f16 : kernels.from_bf16)(from, cols, to.data());
  return to.data();
}

// The query of one head as the cache sees it: rotated retained dims, then W_up_k^T of the rest.
void absorb_query(const Kernels& kernels, const MlaAttention& shape, const float* q, int64_t kv_head, int32_t position,
                  std::vector<float>& up, float* to) {
  const int64_t rest_dim = shape.heads.dim - shape.rope_dim;
  const int32_t* retained = ints(shape.retained) + kv_head * shape.rope_dim;
  const int32_t* rest = ints(shape.rest) + kv_head * rest_dim;
  for (int64_t j = 0; j < shape.rope_dim; ++j) to[j] = q[retained[j]];
  rotate_retained(shape, retained, position, to);
  float* latent = to + shape.rope_dim;
  std::fill_n(latent, shape.latent_k, 0.0f);
  for (int64_t r = 0; r < rest_dim; ++r)
    kernels.add_scaled(latent, q[rest[r]], plain_row(kernels, shape.up_k, kv_head * rest_dim + r, shape.latent_k, up),
                       shape.latent_k);
}

struct Loaded {
  std::vector<float> rope_keys, latents;  // [keys, rope_width], [keys, latent_width]
};
Loaded room_for(const LatentCache& cache) {
  const auto [rope_width, latent_width] = cache.layout;
  return {std::vector<float>(static_cast<size_t>(cache.length * rope_width)),
          std::vector<float>(static_cast<size_t>(cache.length * latent_width))};
}
constexpr int64_t keys_an_item = 256;  // decoded by one thread at a time
void load(const Kernels& kernels, const LatentCache& cache, int64_t first, Loaded& loaded) {
  const auto [rope_width, latent_width] = cache.layout;
  for (int64_t j = first; j < std::min(first + keys_an_item, cache.length); ++j) {
    load_head(kernels, cache.type, cache_head(cache.type, cache.rope_keys->host(), j, 1, rope_width, 0), rope_width,
              loaded.rope_keys.data() + j * rope_width);
    load_head(kernels, cache.type, cache_head(cache.type, cache.latents->host(), j, 1, latent_width, 0), latent_width,
              loaded.latents.data() + j * latent_width);
  }
}

}  // namespace

Tensor CpuBackend::mla_attention(Tensor p, const MlaAttention& shape, std::span<const int32_t> positions,
                                 LatentCache& cache) {
  const auto [query, kv, dim] = shape.heads;
  const auto [rope_width, latent_width] = cache.layout;
  assert(rope_width == kv * shape.rope_dim && p.cols == query * dim + rope_width + latent_width);
  assert(cache.length + p.rows <= cache.capacity && static_cast<int64_t>(positions.size()) >= p.rows);
  for (int64_t t = 0; t < p.rows; ++t) {
    float* rope_keys = row(p, t) + query * dim;
    for (int64_t g = 0; g < kv; ++g)
      rotate_retained(shape, ints(shape.retained) + g * shape.rope_dim, positions[static_cast<size_t>(t)],
                      rope_keys + g * shape.rope_dim);
    store_head(kernels_, cache.type, rope_keys, rope_width,
               cache_head(cache.type, cache.rope_keys->host(), cache.length + t, 1, rope_width, 0));
    store_head(kernels_, cache.type, rope_keys + rope_width, latent_width,
               cache_head(cache.type, cache.latents->host(), cache.length + t, 1, latent_width, 0));
  }
  const int64_t past = cache.length;
  cache.length += p.rows;

  Loaded loaded = room_for(cache);
  parallel((cache.length + keys_an_item - 1) / keys_an_item,
           [&](int64_t item) { load(kernels_, cache, item * keys_an_item, loaded); });
  const Tensor o = scratch(p.rows, query * dim);
  parallel(p.rows * query, [&](int64_t item) {
    const int64_t t = item / query, h = item % query, g = h / (query / kv), keys = past + t + 1;
    thread_local std::vector<float> absorbed, scores, latent, up;
    absorbed.resize(static_cast<size_t>(shape.rope_dim + shape.latent_k));
    scores.resize(static_cast<size_t>(keys));
    absorb_query(kernels_, shape, row(p, t) + h * dim, g, positions[static_cast<size_t>(t)], up, absorbed.data());
    for (int64_t j = 0; j < keys; ++j) {
      const float* rope_key = loaded.rope_keys.data() + j * rope_width + g * shape.rope_dim;
      scores[static_cast<size_t>(j)] =
          shape.scale *
          (kernels_.dot(absorbed.data(), rope_key, shape.rope_dim) +
           kernels_.dot(absorbed.data() + shape.rope_dim, loaded.latents.data() + j * latent_width, shape.latent_k));
    }
    kernels_.softmax(scores.data(), keys);
    latent.assign(static_cast<size_t>(shape.latent_v), 0.0f);
    for (int64_t j = 0; j < keys; ++j) {
      kernels_.add_scaled(latent.data(), scores[static_cast<size_t>(j)],
                          loaded.latents.data() + j * latent_width + shape.latent_v_first, shape.latent_v);
    }
    for (int64_t i = 0; i < dim; ++i)
      row(o, t)[h * dim + i] =
          kernels_.dot(plain_row(kernels_, shape.up_v, g * dim + i, shape.latent_v, up), latent.data(), shape.latent_v);
  });
  return o;
}

}  // namespace longhand::cpu
