// Reads stretches of rows of a tensor, reorders them on request, and encodes them on all cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/checkpoint.h"
#include "quantize/affine.h"
#include "quantize/feedback.h"

namespace longhand {

struct Stretch {
  int64_t first = 0, count = 0;    // rows of the result
  std::vector<int32_t> rows{};     // where each of them comes from; empty: they stand where they stood
  std::vector<int32_t> columns{};  // the same for columns
  const std::atomic<bool>* cancel = nullptr;
};

// [count, in]. Throws FormatError where a value is no number, naming the tensor; Cancelled.
std::vector<float> read_stretch(const WeightView& view, const Stretch& stretch);

struct AffineRows {
  std::vector<std::byte> codes, scales, biases;
  Loss loss;
};
// With `inputs` each row is rounded with error feedback.
AffineRows affine_rows(const WeightView& view, const Stretch& stretch, const std::vector<float>& importance,
                       const AffineFormat& format, const InputFactor* inputs = nullptr);
std::vector<std::byte> block_rows(const WeightView& view, const Stretch& stretch, const std::vector<float>& importance,
                                  DType type);

}  // namespace longhand
