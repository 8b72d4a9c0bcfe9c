// Rounding with error feedback (GPTQ, arXiv 2210.17323): what rounding one column loses is made up for by those that
// are still to be rounded, as far as their inputs go together on a text.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quantize/affine.h"

namespace longhand {

// The covariance C of the inputs of a matrix as a triangle. `order`: columns by falling energy, the order of rounding
// ("act-order"). P (C + damping mean(diag C) I) P^T = V V^T, where row k of P picks column order[k]; V [in, in] is an
// upper triangle.
struct InputFactor {
  std::vector<int32_t> order;
  std::vector<float> triangle;
};

// `covariance` [in, in], symmetric. Throws std::invalid_argument where it is none: not finite, or not positive.
InputFactor factor_inputs(std::vector<double> covariance, int64_t in, double damping);

inline constexpr int64_t feedback_rows = 8;  // of a call: the triangle is read once for all of them

// `count` rows of `in` values. The ranges of the groups are those of `format` and `importance`, as without feedback; a
// row whose output error would be no smaller keeps the codes of its own ranges. Loss: output error e^T C e and w^T C w,
// with the damped covariance.
Loss quantise_with_feedback(const float* rows, int64_t count, int64_t in, const float* importance,
                            const AffineFormat& format, const InputFactor& inputs, std::span<const AffineTo> to);

}  // namespace longhand
