// Memory is shared: the row of logits is read where the GPU left it.
#include <algorithm>
#include <bit>

#include "metal/backend.h"
#include "ops/sampling.h"

namespace longhand::metal {

using namespace params;

Sampled MetalBackend::sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                             std::span<const TokenBias> biases) {
  assert(logits_row.rows == 1);
  settle();
  const float* logits = reinterpret_cast<const float*>(logits_row.buffer->host()) + logits_row.offset;
  return sampling::choose(logits, logits_row.cols, options, counts, biases, sampling::sum_exp);
}

// Ascending by id: the kernel looks one up by halving.
Tensor MetalBackend::upload_pairs(std::vector<std::pair<int32_t, int32_t>> pairs) {
  std::ranges::sort(pairs);
  return upload(pairs.data(), pairs.size() * sizeof(pairs[0]));
}

void MetalBackend::guess(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                         std::span<const TokenBias> biases, bool after_guess) {
  assert(logits_row.rows == 1 && (pass_.async || pass_.warmup));
  std::vector<std::pair<int32_t, int32_t>> words;
  for (const TokenCount& each : counts) words.emplace_back(each.id, each.count);
  const Tensor count_list = words.empty() ? logits_row : upload_pairs(std::move(words));
  words.clear();
  for (const TokenBias& each : biases) words.emplace_back(each.id, std::bit_cast<int32_t>(each.bias));
  const Tensor bias_list = words.empty() ? logits_row : upload_pairs(std::move(words));
  const int64_t tiles = (logits_row.cols + kSampleTile - 1) / kSampleTile;
  const Tensor scores = scratch(1, logits_row.cols), peaks = scratch(1, tiles);
  const Tensor peak_ids = scratch(1, tiles);  // uint in the place of fp32
  const SampleParams p{.vocabulary = narrow(logits_row.cols),
                       .counts = narrow(static_cast<int64_t>(counts.size())),
                       .biases = narrow(static_cast<int64_t>(biases.size())),
                       .after_guess = after_guess,
                       .top_k = narrow(options.top_k),
                       .repetition = options.repetition_penalty,
                       .presence = options.presence_penalty,
                       .frequency = options.frequency_penalty,
                       .temperature = options.temperature,
                       .top_p = options.top_p,
                       .min_p = options.min_p,
                       .random = static_cast<float>(sampling::uniform(options.seed, options.position))};
  run(Kernel{"sample", "sample_scores"}, Constants{},
      {reads(logits_row), reads(count_list), reads(bias_list), reads(guess_of(1 - turn_)), writes(scores),
       writes(peaks), writes(peak_ids)},
      p, Grid{{static_cast<size_t>(tiles), 1, 1}, {kSampleTile, 1, 1}});
  run(Kernel{"sample", "sample_pick"}, Constants().set(kGreedy, options.temperature <= 0.0f),
      {reads(scores), reads(peaks), reads(peak_ids), writes(guess_of(turn_))}, p,
      Grid{{1, 1, 1}, {kSampleCandidates, 1, 1}});
}

}  // namespace longhand::metal
