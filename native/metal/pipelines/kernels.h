// The text of metal/*.metal with its includes in place, put into the program when it is built.
#pragma once

#include <string>
#include <string_view>

namespace longhand::metal {

// Source of metal/<file>.metal. The file must exist: our bug otherwise.
const char* kernel_source(std::string_view file);
// Changes when any kernel does.
std::string kernel_hash();

}  // namespace longhand::metal
