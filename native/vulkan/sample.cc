// The token is chosen on the CPU, from a row of scores and what the GPU has found of its tiles (score_tiles.comp). With
// penalties, biases or a grammar the whole row is walked over.
#include <algorithm>

#include "ops/sampling.h"
#include "vulkan/backend.h"

namespace longhand::vulkan {

namespace {

constexpr uint32_t tile_threads = 256;

}  // namespace

Tensor VulkanBackend::look_through(const Tensor& x) {
  const size_t tiles = (static_cast<size_t>(x.cols) + shared::kScoreTile - 1) / shared::kScoreTile;
  scored_ = {scores_.take(x.rows, x.cols), scores_.take(x.rows, static_cast<int64_t>(2 * tiles))};
  // As many rows at a time as fit into bindings.
  const int64_t most = rows_in_binding(x.cols * static_cast<int64_t>(sizeof(float)));
  for (int64_t row = 0; row < x.rows; row += most) {
    const int64_t count = std::min(most, x.rows - row);
    const auto part = [&](const Tensor& all) { return all.row_range(row, count); };
    run("score_tiles", Constants(), {reads(part(x)), writes(part(scored_.scores)), writes(part(scored_.tiles))},
        params::RowsParams{.rows = narrow(count),
                           .cols = narrow(x.cols),
                           .x_stride = narrow(x.stride),
                           .y_stride = narrow(scored_.scores.stride),
                           .z_stride = narrow(scored_.tiles.stride)},
        groups(tiles, static_cast<size_t>(count), tile_threads));
  }
  return scored_.scores;
}

// A row whose tiles the last pass has found.
bool VulkanBackend::is_scored(const Tensor& row) const {
  const Tensor& all = scored_.scores;
  return all && row.buffer == all.buffer && row.cols == all.cols && row.offset >= all.offset &&
         row.offset < all.offset + static_cast<size_t>(all.rows * all.stride);
}

Sampled VulkanBackend::sample(Tensor logits_row, const Sampling& options, std::span<const TokenCount> counts,
                              std::span<const TokenBias> biases) {
  assert(logits_row.rows == 1);
  if (commands_.busy()) commands_.finish();
  if (is_scored(logits_row) && !sampling::changes_scores(options, counts, biases)) {
    const Tensor& tiles = scored_.tiles;
    const auto index = static_cast<int64_t>(logits_row.offset - scored_.scores.offset) / scored_.scores.stride;
    const auto at = [](const Tensor& t) {
      return reinterpret_cast<const float*>(vulkan_buffer(*t.buffer).mapped) + t.offset;
    };
    const auto* found = reinterpret_cast<const sampling::Tile*>(at(tiles.row_range(index, 1)));
    return sampling::choose({.scores = {at(logits_row), static_cast<size_t>(logits_row.cols)},
                             .tiles = {found, static_cast<size_t>(tiles.cols) / 2},
                             .width = shared::kScoreTile},
                            options);
  }
  row_.resize(static_cast<size_t>(logits_row.cols));
  read(row_.data(), logits_row);
  return sampling::choose(row_.data(), logits_row.cols, options, counts, biases, sampling::sum_exp);
}

}  // namespace longhand::vulkan
