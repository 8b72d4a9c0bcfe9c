// Rows of a table, and rows side by side.
#include <cstring>

#include "cpu/backend.h"

namespace longhand::cpu {

// y[i] = scale * table[ids[i]]
Tensor CpuBackend::embed(std::span<const int32_t> ids, const Weight& table, float scale) {
  const CpuWeight& weight = cpu_weight(table);
  const Tensor y = scratch(static_cast<int64_t>(ids.size()), weight.in);
  parallel(y.rows, [&](int64_t i) {
    const int32_t id = ids[static_cast<size_t>(i)];
    assert(id >= 0 && id < weight.out);
    decode_row(kernels_, weight, id, row(y, i));
    for (int64_t c = 0; c < y.cols; ++c) row(y, i)[c] *= scale;
  });
  return y;
}

Tensor CpuBackend::stack(std::span<const Tensor> parts) {
  int64_t rows = 0;
  for (const Tensor& part : parts) rows += part.rows;
  const Tensor y = scratch(rows, parts.front().cols);
  int64_t next = 0;
  for (const Tensor& part : parts) {
    assert(part.cols == y.cols);
    for (int64_t i = 0; i < part.rows; ++i)
      std::memcpy(row(y, next++), row(part, i), static_cast<size_t>(y.cols) * sizeof(float));
  }
  return y;
}

Tensor CpuBackend::concat(Tensor a, Tensor b) {
  assert(a.rows == b.rows);
  const Tensor y = scratch(a.rows, a.cols + b.cols);
  for (int64_t i = 0; i < a.rows; ++i) {
    std::memcpy(row(y, i), row(a, i), static_cast<size_t>(a.cols) * sizeof(float));
    std::memcpy(row(y, i) + a.cols, row(b, i), static_cast<size_t>(b.cols) * sizeof(float));
  }
  return y;
}

}  // namespace longhand::cpu
