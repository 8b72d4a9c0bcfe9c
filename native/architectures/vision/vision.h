// A vision tower: turns pictures into rows of the residual stream, which the model reads in place of token embeddings.
#pragma once

#include <cstdint>
#include <span>

#include "ops/backend.h"

namespace longhand {

// Patches of one picture. `frames` is 1 except for video.
struct Grid {
  int64_t frames = 1, rows = 0, columns = 0;
  int64_t patches() const { return frames * rows * columns; }
};

// Which output of the tower is returned: that of its last block, [patches, width], or the merged rows. If norms are
// fused (`Lifecycle::fuses_norms`), rows of the former lack their mean, which no norm uses.
enum class Seen : uint8_t { tower, merged };

class Vision {
 public:
  virtual ~Vision() = default;

  int32_t token = 0;         // the prompt's placeholder for each merged row
  int64_t patch_values = 0;  // values per patch: [channel, frame, row, column]
  int64_t merge = 1;         // merge x merge patches become one row

  int64_t merged_rows(const Grid& grid) const { return grid.patches() / (merge * merge); }

  // Prepares the weights on first use. Call on the worker, between passes.
  virtual void load(Backend& backend) = 0;
  // Frees the weights; the next use loads them again. Call on the worker, between passes.
  virtual void unload() = 0;
  // `pixels` holds the pictures one after the other, each in blocks of merge x merge patches: [patches, patch_values].
  // Call inside a pass.
  virtual Tensor see(Backend& backend, std::span<const float> pixels, std::span<const Grid> grids, Seen what) const = 0;
};

}  // namespace longhand
