#include "cpu/backend.h"
#include "ops/sampling.h"

namespace longhand::cpu {

Sampled CpuBackend::sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                           std::span<const TokenBias> biases) {
  assert(logits_row.rows == 1);
  return sampling::choose(
      data(logits_row), logits_row.cols, options, counts, biases,
      [&](const float* scores, float peak, int64_t n) { return kernels_.sum_exp(scores, peak, n); });
}

}  // namespace longhand::cpu
