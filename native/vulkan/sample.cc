// The row of logits is fetched and the token chosen on the CPU.
#include "ops/sampling.h"
#include "vulkan/backend.h"

namespace longhand::vulkan {

Sampled VulkanBackend::sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                              std::span<const TokenBias> biases) {
  assert(logits_row.rows == 1);
  std::vector<float> logits(static_cast<size_t>(logits_row.cols));
  read(logits.data(), logits_row);
  const auto sum_exp = [](const float* scores, float peak, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(scores[i] - peak));
    return sum;
  };
  return sampling::choose(logits.data(), logits_row.cols, options, counts, biases, sum_exp);
}

}  // namespace longhand::vulkan
