// Memory is shared: the row of logits is read where the GPU left it.
#include "metal/backend.h"
#include "ops/sampling.h"

namespace longhand::metal {

Sampled MetalBackend::sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                             std::span<const TokenBias> biases) {
  assert(logits_row.rows == 1);
  if (commands_.busy()) commands_.finish();
  const float* logits = reinterpret_cast<const float*>(logits_row.buffer->host()) + logits_row.offset;
  const auto sum_exp = [](const float* scores, float peak, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(scores[i] - peak));
    return sum;
  };
  return sampling::choose(logits, logits_row.cols, options, counts, biases, sum_exp);
}

}  // namespace longhand::metal
