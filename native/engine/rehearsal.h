// The kernels of a conversation, compiled before it begins.
#pragma once

#include <functional>

#include "engine/model.h"

namespace longhand {

// Rehearses the passes that answers are made of and has what they need compiled beside whatever comes next. `told`
// hears how many kernels of all are ready, from another thread. Nothing happens on a device without such kernels.
void prepare_kernels(Model& model, std::function<void(size_t done, size_t total)> told);

}  // namespace longhand
