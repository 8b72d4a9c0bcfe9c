#pragma once

#include "architectures/architecture.h"
#include "ops/backend.h"

namespace longhand {

// Throws Unsupported, naming the first layer that is too large for the device's kernels.
void require_shapes(const Facts& facts, const DeviceInfo& device);

}  // namespace longhand
