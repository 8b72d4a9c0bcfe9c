// The SPIR-V of shaders/*.comp, put into the program when it is built.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace longhand::vulkan {

// Words of shaders/<name>.comp. The shader must exist: our bug otherwise.
std::span<const uint32_t> kernel_words(std::string_view name);
// Changes when any shader does.
std::string kernel_hash();

}  // namespace longhand::vulkan
