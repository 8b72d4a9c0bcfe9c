// Whether prompts may be multiplied by the tensor operations of Metal 4 (metal/matmul_tensor.metal) here.
#pragma once

#include <string>

#include "metal/device/device.h"

namespace longhand::metal {

// Why not; "" when the GPU has matrix units, the system has the language, and the kernel gave the very bits of the one
// in halves. Computed once for a device, system and text of kernels: the answer lies beside the pipelines.
std::string tensor_refusal(Device& device);

}  // namespace longhand::metal
