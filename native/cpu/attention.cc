// Causal softmax attention over a cache, query heads in groups that share a key/value head.
#include "cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/backend.h"
#include "cpu/cache.h"
#include "cpu/norm.h"

namespace longhand::cpu {

void softmax(float* scores, int64_t n) {
  const float peak = *std::max_element(scores, scores + n);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += scores[i] = std::exp(scores[i] - peak);
  for (int64_t i = 0; i < n; ++i) scores[i] /= sum;
}

namespace {

// o = softmax(scale q K^T) V for one query head over the first `keys` rows of the cache.
void attend(const float* q, const KvCache& cache, int64_t head, int64_t keys, float scale, float* o) {
  const int64_t dim = cache.layout.dim;
  thread_local std::vector<float> scores, decoded;
  scores.resize(static_cast<size_t>(keys));
  decoded.resize(static_cast<size_t>(dim));
  const auto load = [&](const BufferPtr& from, int64_t j) {
    load_head(cache.type, cache_head(cache.type, from->host(), j, cache.layout.heads, dim, head), dim, decoded.data());
  };
  for (int64_t j = 0; j < keys; ++j) {
    load(cache.keys, j);
    scores[static_cast<size_t>(j)] = scale * dot(q, decoded.data(), dim);
  }
  softmax(scores.data(), keys);
  std::fill_n(o, dim, 0.0f);
  for (int64_t j = 0; j < keys; ++j) {
    load(cache.values, j);
    for (int64_t i = 0; i < dim; ++i) o[i] += scores[static_cast<size_t>(j)] * decoded[static_cast<size_t>(i)];
  }
}

}  // namespace

Tensor CpuBackend::attention(Tensor q, const KvCache& cache, const Attention& shape) {
  const Heads& heads = shape.heads;
  assert(q.cols == heads.query * heads.dim && q.rows <= cache.length);
  const Tensor o = scratch(q.rows, q.cols);
  const int64_t group = heads.query / heads.kv;
  parallel(q.rows * heads.query, [&](int64_t item) {
    const int64_t t = item / heads.query, h = item % heads.query;
    const int64_t visible = cache.length - q.rows + t + 1;
    attend(row(q, t) + h * heads.dim, cache, h / group, visible, shape.scale, row(o, t) + h * heads.dim);
  });
  return o;
}

}  // namespace longhand::cpu
