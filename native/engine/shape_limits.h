#pragma once

#include "architectures/architecture.h"
#include "ops/backend.h"

namespace longhand {

// Throws Unsupported, naming the first layer that is larger than the kernels of the device take.
void require_shapes(const Facts& facts, const DeviceInfo& device);

}  // namespace longhand
