// Stub of the back end in a build without Metal: gives the reason, which is shown in Settings.
#include "ops/backend.h"

namespace longhand {

Creation create_metal(bool) { return {nullptr, "Metal needs macOS 14 on Apple silicon"}; }

}  // namespace longhand
