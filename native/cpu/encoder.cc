// Attention of an encoder: every row sees every row.
#include <algorithm>
#include <vector>

#include "cpu/backend.h"

namespace longhand::cpu {

Tensor CpuBackend::attention_bidirectional(Tensor p, const Attention& shape) {
  const auto [query, kv, dim] = shape.heads;
  assert(p.cols == (query + 2 * kv) * dim);
  const Tensor o = scratch(p.rows, query * dim);
  parallel(query * p.rows, [&](int64_t item) {
    const int64_t h = item / p.rows, t = item % p.rows;
    const int64_t key = (query + h / (query / kv)) * dim, value = key + kv * dim;
    thread_local std::vector<float> scores;
    scores.resize(static_cast<size_t>(p.rows));
    for (int64_t j = 0; j < p.rows; ++j)
      scores[static_cast<size_t>(j)] = shape.scale * kernels_.dot(row(p, t) + h * dim, row(p, j) + key, dim);
    kernels_.softmax(scores.data(), p.rows);
    float* out = row(o, t) + h * dim;
    std::fill_n(out, dim, 0.0f);
    for (int64_t j = 0; j < p.rows; ++j)
      kernels_.add_scaled(out, scores[static_cast<size_t>(j)], row(p, j) + value, dim);
  });
  return o;
}

}  // namespace longhand::cpu
