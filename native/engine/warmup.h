// Compiles the kernels of a conversation before it begins.
#pragma once

#include <functional>

#include "engine/model.h"

namespace longhand {

// Runs the passes of an answer without computing them and compiles their kernels in the background. `told` is called
// from another thread with the number of kernels that are ready and their total. Does nothing on devices that compile
// nothing at run time.
void prepare_kernels(Model& model, std::function<void(size_t done, size_t total)> told);

}  // namespace longhand
