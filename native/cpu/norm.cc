#include <cmath>
#include <cstring>

#include "cpu/backend.h"
#include "cpu/kernels/scalar.h"

namespace longhand::cpu {

// Sixteen partial sums: more accurate than one, and the order in which the vector kernels add.
float scalar::dot(const float* a, const float* b, int64_t n) {
  constexpr int lanes = 16;
  float sum[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) sum[lane] += a[i + lane] * b[i + lane];
  for (int lane = 0; i + lane < n; ++lane) sum[lane] += a[i + lane] * b[i + lane];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
  return sum[0];
}

void scalar::add_scaled(float* y, float a, const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// y = x * rsqrt(mean(x^2) + eps) * weight; y may be x.
void scalar::rms_norm(const float* x, const float* weight, float eps, int64_t n, float* y) {
  const float inverse = 1.0f / std::sqrt(dot(x, x, n) / static_cast<float>(n) + eps);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * inverse * weight[i];
}

namespace {

// (x - mean) / sqrt(variance + eps) * weight + bias, population variance.
void layer_norm_row(const Kernels& kernels, const float* x, const float* add, const LayerNorm& norm, int64_t n,
                    float* y) {
  float mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[i] + (add ? add[i] : 0.0f);
    mean += y[i];
  }
  mean /= static_cast<float>(n);
  for (int64_t i = 0; i < n; ++i) y[i] -= mean;
  const float inverse = 1.0f / std::sqrt(kernels.dot(y, y, n) / static_cast<float>(n) + norm.eps);
  const float* weight = floats(norm.weight);
  const float* bias = floats(norm.bias);
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] * inverse * weight[i] + bias[i];
}

}  // namespace

Tensor CpuBackend::rms_norm(Tensor x, const Norm& norm) {
  const Tensor y = scratch(x.rows, x.cols);
  parallel(x.rows, [&](int64_t i) { kernels_.rms_norm(row(x, i), floats(norm.weight), norm.eps, x.cols, row(y, i)); });
  return y;
}

Tensor CpuBackend::layer_norm(Tensor x, const LayerNorm& norm, Tensor add) {
  const Tensor y = scratch(x.rows, x.cols);
  parallel(x.rows, [&](int64_t i) {
    layer_norm_row(kernels_, row(x, i), add ? row(add, i) : nullptr, norm, x.cols, row(y, i));
  });
  return y;
}

Tensor CpuBackend::normalised(Tensor x, const Norm* norm) {
  if (norm) return rms_norm(x, *norm);
  if (x.contiguous()) return x;
  const Tensor y = scratch(x.rows, x.cols);
  for (int64_t i = 0; i < x.rows; ++i) std::memcpy(row(y, i), row(x, i), static_cast<size_t>(x.cols) * sizeof(float));
  return y;
}

}  // namespace longhand::cpu
