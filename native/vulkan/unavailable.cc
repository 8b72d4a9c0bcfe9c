// Stub of the back end in a build without Vulkan: gives the reason, which is shown in Settings.
#include "ops/backend.h"

namespace longhand {

Creation create_vulkan(int) {
  return {nullptr, "Vulkan is for GPUs that are not Apple's: this one is driven by Metal"};
}
int count_vulkan() { return 0; }

}  // namespace longhand
