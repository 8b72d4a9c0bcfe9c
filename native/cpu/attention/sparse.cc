// InfLLM-v2 block-sparse attention (arXiv 2509.24663): mean-pooled keys choose, for every query token and key/value
// head, the blocks of the cache that its group of query heads attends to.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/attention/cache.h"
#include "cpu/backend.h"

namespace longhand::cpu {
namespace {

constexpr float unseen = -std::numeric_limits<float>::infinity();

// Appends the mean keys of windows [length, wanted).
void append_means(const Kernels& kernels, const KvCache& cache, int64_t kernel, int64_t stride, int64_t wanted,
                  Buffer& means, int64_t& length) {
  const auto [heads, dim] = cache.layout;
  std::vector<float> key(static_cast<size_t>(dim));
  for (; length < wanted; ++length) {
    float* mean = floats(means) + length * heads * dim;
    std::fill_n(mean, heads * dim, 0.0f);
    for (int64_t j = length * stride; j < length * stride + kernel; ++j) {
      for (int64_t h = 0; h < heads; ++h) {
        load_head(kernels, cache.type, cache_head(cache.type, cache.keys->host(), j, heads, dim, h), dim, key.data());
        for (int64_t i = 0; i < dim; ++i) mean[h * dim + i] += key[static_cast<size_t>(i)];
      }
    }
    for (int64_t i = 0; i < heads * dim; ++i) mean[i] /= static_cast<float>(kernel);
  }
}

float log_sum_exp(const std::vector<float>& x) {
  const float peak = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (const float value : x) sum += std::exp(value - peak);
  return peak + std::log(sum);
}

// Steps a to c: p_j over the visible K1, summed over the heads of one group. The normaliser is taken over K2; where no
// K2 is visible the scores are not defined and count as 0.
std::vector<float> window_scores(const Kernels& kernels, const float* q, const CompressedKeys& keys,
                                 const BlockSparse& shape, int64_t head, int64_t position) {
  const auto [query, kv, dim] = shape.heads;
  const int64_t seen1 = std::min(complete_windows(position + 1, shape.kernel, shape.stride), keys.k1_length);
  const int64_t seen2 =
      std::min(complete_windows(position + 1, k2_ratio * shape.kernel, k2_ratio * shape.stride), keys.k2_length);
  std::vector<float> p(static_cast<size_t>(seen1), 0.0f), logits(static_cast<size_t>(seen2));
  if (seen2 == 0) return p;
  for (int64_t g = 0; g < query / kv; ++g) {
    const float* one = q + (head * (query / kv) + g) * dim;
    const auto score = [&](const BufferPtr& k, int64_t j) {
      return shape.scale * kernels.dot(one, floats(k) + (j * kv + head) * dim, dim);
    };
    for (int64_t j = 0; j < seen2; ++j) logits[static_cast<size_t>(j)] = score(keys.k2, j);
    const float normaliser = log_sum_exp(logits);
    for (int64_t j = 0; j < seen1; ++j) p[static_cast<size_t>(j)] += std::exp(score(keys.k1, j) - normaliser);
  }
  return p;
}

// Steps d to f: pooled block scores, forced blocks, the best, ascending. Of equal scores the lower block wins.
void choose_blocks(const std::vector<float>& p, const BlockSparse& shape, int64_t position, int32_t* chosen) {
  const int64_t ratio = shape.block / shape.stride, local = shape.window / shape.block;
  const int64_t own = position / shape.block, count = static_cast<int64_t>(p.size());
  struct Scored {
    float score;
    int32_t block;
  };
  std::vector<Scored> blocks;
  for (int64_t b = 0; b <= own; ++b) {
    const bool forced = b < shape.init_blocks || b >= own - local;
    float score = forced ? -unseen : unseen;
    for (int64_t j = std::max<int64_t>(ratio * b - 1, 0); !forced && j < std::min(ratio * (b + 1), count); ++j)
      score = std::max(score, p[static_cast<size_t>(j)]);
    blocks.push_back({score, static_cast<int32_t>(b)});
  }
  const size_t count_chosen = std::min(blocks.size(), static_cast<size_t>(shape.effective_topk()));
  std::partial_sort(
      blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(count_chosen), blocks.end(),
      [](const Scored& a, const Scored& b) { return a.score != b.score ? a.score > b.score : a.block < b.block; });
  std::fill_n(chosen, shape.effective_topk(), -1);
  for (size_t i = 0; i < count_chosen; ++i) chosen[i] = blocks[i].block;
  std::sort(chosen, chosen + count_chosen);
}

}  // namespace

void CpuBackend::block_compress(const KvCache& cache, const BlockSparse& shape, CompressedKeys& compressed) {
  append_means(kernels_, cache, shape.kernel, shape.stride, complete_windows(cache.length, shape.kernel, shape.stride),
               *compressed.k1, compressed.k1_length);
  const int64_t kernel = k2_ratio * shape.kernel, stride = k2_ratio * shape.stride;
  append_means(kernels_, cache, kernel, stride, complete_windows(cache.length, kernel, stride), *compressed.k2,
               compressed.k2_length);
}

BlockList CpuBackend::block_select(Tensor q, const CompressedKeys& compressed, const BlockSparse& shape,
                                   int64_t first_position, int64_t total) {
  assert(q.cols == shape.heads.query * shape.heads.dim && first_position + q.rows <= total);
  const int64_t rows = q.rows * shape.heads.kv;
  const Tensor list = scratch(rows, shape.effective_topk());  // int32 in the place of fp32
  parallel(rows, [&](int64_t item) {
    const int64_t t = item / shape.heads.kv, head = item % shape.heads.kv;
    choose_blocks(window_scores(kernels_, row(q, t), compressed, shape, head, first_position + t), shape,
                  first_position + t, reinterpret_cast<int32_t*>(row(list, item)));
  });
  return {list.buffer, list.offset * sizeof(float), rows, list.cols};
}

Tensor CpuBackend::block_attention(Tensor q, const KvCache& cache, const BlockSparse& shape, BlockList blocks) {
  const auto [query, kv, dim] = shape.heads;
  assert(blocks.rows == q.rows * kv);
  const Tensor o = scratch(q.rows, q.cols);
  const auto* lists = reinterpret_cast<const int32_t*>(blocks.blocks->host() + blocks.offset);
  parallel(q.rows * query, [&](int64_t item) {
    const int64_t t = item / query, h = item % query, head = h / (query / kv);
    const int64_t visible = cache.length - q.rows + t + 1;
    const int32_t* list = lists + (t * kv + head) * blocks.topk;
    thread_local std::vector<float> scores, vector;
    scores.clear();
    vector.resize(static_cast<size_t>(dim));
    const auto for_each_key = [&](const BufferPtr& from, auto&& use) {
      size_t at = 0;
      for (int64_t b = 0; b < blocks.topk && list[b] >= 0; ++b) {
        for (int64_t j = list[b] * shape.block; j < std::min((list[b] + 1) * shape.block, visible); ++j) {
          load_head(kernels_, cache.type, cache_head(cache.type, from->host(), j, kv, dim, head), dim, vector.data());
          use(at++);
        }
      }
    };
    for_each_key(cache.keys, [&](size_t) {
      scores.push_back(shape.scale * kernels_.dot(row(q, t) + h * dim, vector.data(), dim));
    });
    kernels_.softmax(scores.data(), static_cast<int64_t>(scores.size()));
    float* out = row(o, t) + h * dim;
    std::fill_n(out, dim, 0.0f);
    for_each_key(cache.values, [&](size_t at) { kernels_.add_scaled(out, scores[at], vector.data(), dim); });
  });
  return o;
}

}  // namespace longhand::cpu
