// A crashing driver takes its process with it, so each is tried in a throw-away child process first, once, before this
// process opens it.
#pragma once

#include <string>
#include <vector>

namespace longhand::vulkan {

struct Probe {
  std::string reason;                // why there is no Vulkan at all; empty when there is
  std::vector<std::string> devices;  // a device each: why it cannot be used, or empty
};

// The child's findings, remembered for the life of this process.
const Probe& probe();

}  // namespace longhand::vulkan
