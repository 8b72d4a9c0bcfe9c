// How much memory a load may take: what the machine has free, or what is left below the limit of its control group.
#pragma once

#include <cstdint>

namespace longhand {

uint64_t available_memory();

}  // namespace longhand
