// y = W x, the specification: every row is decoded to fp32 and multiplied in fp32.
#include "cpu/matmul.h"

#include <vector>

#include "cpu/norm.h"

namespace longhand::cpu {

void matmul_tile(const CpuWeight& weight, int64_t first, int64_t count, const float* x, int64_t x_stride,
                 int64_t tokens, float* y, int64_t y_stride) {
  thread_local std::vector<float> decoded;
  decoded.resize(static_cast<size_t>(weight.in));
  for (int64_t i = 0; i < count; ++i) {
    decode_row(weight, first + i, decoded.data());
    for (int64_t t = 0; t < tokens; ++t) y[t * y_stride + i] = dot(decoded.data(), x + t * x_stride, weight.in);
  }
}

}  // namespace longhand::cpu
