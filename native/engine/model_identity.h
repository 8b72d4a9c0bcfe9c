// Which model this is, and what computes it: results that are kept for later are results of both.
#pragma once

#include <cstdint>

#include "formats/checkpoint.h"
#include "ops/backend.h"

namespace longhand {

// Of the configuration, of the files' sizes and times, of every tensor's name, form and a sample of what it holds.
// Reads pages of the files: to be asked before the weights are packed, which lets go of them.
uint64_t identity_of_weights(const std::string& path, const Checkpoint& checkpoint);
// Of these weights on a device that is prepared.
uint64_t identity_on(uint64_t weights, const DeviceInfo& device);

}  // namespace longhand
