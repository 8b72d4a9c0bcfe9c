// Which model this is, and what computes it: results that are kept for later are results of both.
#pragma once

#include <cstdint>

#include "formats/checkpoint.h"
#include "ops/backend.h"

namespace longhand {

// Of the configuration, of the files' sizes and times, of every tensor's name, form and a sample of what it holds, and of the device.
uint64_t identity_of(const std::string& path, const Checkpoint& checkpoint, const DeviceInfo& device);

}  // namespace longhand
