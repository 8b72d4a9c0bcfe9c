// Runs at the first start on a device: alternative ways to compute the same are timed by the GPU's clock, each where it
// matters (matrices beyond every cache, the shapes of Qwen3.5-0.8B). Runs on a thread of its own, while the back end
// that asked is idle: a timing disturbed by other work is repeated.
#pragma once

#include <functional>
#include <optional>

#include "metal/device/activity.h"
#include "metal/tuning/tuning_file.h"

namespace longhand::metal {

// `timed(tuning, question)`: seconds of the GPU for the work of choices()[question], once. Nothing when it cannot be
// known. The choice between them, and nothing when too little was measured to choose. What is not `possible` here stays
// as the table has it.
using Timed = std::function<std::optional<double>(const Tuning& tuning, size_t question)>;
std::optional<Measured> measure(const Tuning& chip, const Timed& timed,
                                const std::function<bool(const Choice& choice)>& possible);

// Whether this start may measure: it is wanted (tuner_wanted), nothing was chosen before, and no pass is being
// captured.
bool measures();

// Measures on a back end of its own and stores the result. Does nothing if another thread of this process is already
// measuring or a file exists, and gives up if `activity` closes or the GPU fails.
void tune(Activity& activity);

}  // namespace longhand::metal
