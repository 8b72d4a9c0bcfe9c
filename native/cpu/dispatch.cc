// Which instruction sets this processor has.
#include "ops/backend.h"

namespace longhand {

std::vector<std::string> cpu_instructions() { return {"scalar"}; }

}  // namespace longhand
