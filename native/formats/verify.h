// Finds weights that are not finite. Opening a checkpoint reads headers only; this reads the values.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "formats/checkpoint.h"

namespace longhand {

enum class Verify : uint8_t {
  scales,  // scales and biases of quantised matrices, where one bad bit affects a whole group
  values,  // these and every plain number
};

// A sentence about the first value of a tensor that is not finite; none if all are finite.
std::optional<std::string> find_non_finite(const WeightView& view, Verify what);

// All tensors; called at load, always with at least `scales`. `progress` gets bytes done and in all, and returns false
// to stop early (then nothing is thrown). Throws FormatError naming the tensors (the first five).
void verify(const Checkpoint& checkpoint, Verify what,
            const std::function<bool(size_t done, size_t total)>& progress = {});

}  // namespace longhand
