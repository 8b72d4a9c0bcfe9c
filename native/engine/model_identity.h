// Identities of a model and of the device that computes it: stored results are only valid for both.
#pragma once

#include <cstdint>

#include "formats/checkpoint.h"
#include "ops/backend.h"

namespace longhand {

// A hash of the configuration, the files' sizes and times, and each tensor's name, shape and a sample of its values. It
// reads pages of the files, so call it before packing the weights releases them.
uint64_t identity_of_weights(const std::string& path, const Checkpoint& checkpoint);
// A hash of these weights and the prepared device.
uint64_t identity_on(uint64_t weights, const DeviceInfo& device);

}  // namespace longhand
