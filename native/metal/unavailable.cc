// The back end of a build without metal: says why, in words that reach Settings.
#include "ops/backend.h"

namespace longhand {

Creation create_metal(bool) { return {nullptr, "Metal needs macOS 14 on Apple silicon"}; }

}  // namespace longhand
