// The kernels of a conversation, compiled before it begins.
#pragma once

#include <functional>

#include "engine/model.h"

namespace longhand {

// Runs the passes that answers are made of without computing them, and has what they need compiled beside whatever
// comes next. `told` hears how many kernels of all are ready, from another thread. Nothing happens on a device that
// compiles nothing at run time.
void prepare_kernels(Model& model, std::function<void(size_t done, size_t total)> told);

}  // namespace longhand
