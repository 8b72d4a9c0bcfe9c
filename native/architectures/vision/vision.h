// What turns pictures into rows of the residual stream, beside a model that reads them as if they were tokens.
#pragma once

#include <cstdint>
#include <span>

#include "ops/backend.h"

namespace longhand {

// Patches of one picture: `frames` is 1 unless it is a piece of a film.
struct Grid {
  int64_t frames = 1, rows = 0, columns = 0;
  int64_t patches() const { return frames * rows * columns; }
};

// How far a tower is followed: up to the end of its last block, [patches, width], or to the merged rows. Where norms
// are fused (`Lifecycle::fuses_norms`) rows of the former come without their mean, which no norm reads.
enum class Seen : uint8_t { tower, merged };

class Vision {
 public:
  virtual ~Vision() = default;

  int32_t token = 0;         // stands in a prompt for every merged row
  int64_t patch_values = 0;  // of one patch: [channel, frame, row, column]
  int64_t merge = 1;         // merge x merge patches become one row

  int64_t merged_rows(const Grid& grid) const { return grid.patches() / (merge * merge); }

  // Prepares the weights on first use. The worker, between passes.
  virtual void load(Backend& backend) = 0;
  // Gives the weights back; they come again when they are wanted. The worker, between passes.
  virtual void unload() = 0;
  // Pictures one after the other, each in blocks of merge x merge patches: [patches, patch_values]. Inside a pass.
  virtual Tensor see(Backend& backend, std::span<const float> pixels, std::span<const Grid> grids, Seen what) const = 0;
};

}  // namespace longhand
