#pragma once

#include <cstdint>

namespace longhand::cpu {

// Softmax over [0, n) in place. The largest score is subtracted first.
void softmax(float* scores, int64_t n);

}  // namespace longhand::cpu
