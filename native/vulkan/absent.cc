// The back end of a build without vulkan: says why, in words that reach Settings.
#include "ops/backend.h"

namespace longhand {

Creation create_vulkan(int) { return {nullptr, "the Vulkan back end is not built yet"}; }

}  // namespace longhand
