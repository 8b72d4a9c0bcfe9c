// A driver that crashes takes its process with it: it is tried in a throw-away child first, once, before this process
// lets it in.
#pragma once

#include <string>
#include <vector>

namespace longhand::vulkan {

struct Probe {
  std::string reason;                // why there is no Vulkan at all; empty when there is
  std::vector<std::string> devices;  // a device each: why it cannot be used, or empty
};

// What the child found, remembered for the life of this process.
const Probe& probe();

}  // namespace longhand::vulkan
