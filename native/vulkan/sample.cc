// The row of logits is fetched and the token chosen on the CPU.
#include "ops/sampling.h"
#include "vulkan/backend.h"

namespace longhand::vulkan {

Sampled VulkanBackend::sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                              std::span<const TokenBias> biases) {
  assert(logits_row.rows == 1);
  std::vector<float> logits(static_cast<size_t>(logits_row.cols));
  read(logits.data(), logits_row);
  return sampling::choose(logits.data(), logits_row.cols, options, counts, biases, sampling::sum_exp);
}

}  // namespace longhand::vulkan
