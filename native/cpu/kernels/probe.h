#pragma once

#include "cpu/kernels/kernels.h"

namespace longhand::cpu {

// Whether the set `tiles` multiplies a prompt's tokens faster than `vectors` does; takes less than a millisecond. Both
// can run here.
bool tiles_are_faster(const Kernels& tiles, const Kernels& vectors);

}  // namespace longhand::cpu
