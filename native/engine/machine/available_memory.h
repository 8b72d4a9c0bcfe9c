// How much memory a load may take: the machine's free memory, or what the control group's limit leaves if that is less.
#pragma once

#include <cstdint>

namespace longhand {

uint64_t available_memory();

}  // namespace longhand
