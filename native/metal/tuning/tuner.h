// The first start on a device: the ways to compute the same are timed by the GPU's own clock, each where it matters
// (matrices beyond every cache, the shapes of Qwen3.5-0.8B). Runs on a thread of its own, while the back end that asked
// does nothing: a timing that work came into is taken again.
#pragma once

#include <functional>
#include <optional>

#include "metal/device/activity.h"
#include "metal/tuning/tuning_file.h"

namespace longhand::metal {

// `timed(tuning, question)`: seconds of the GPU for the work of choices()[question], once. Nothing when it cannot be
// known. The choice between them, and nothing when too little was measured to choose.
using Timed = std::function<std::optional<double>(const Tuning& tuning, size_t question)>;
std::optional<Measured> measure(const Tuning& chip, const Timed& timed);

// Whether this start may: wanted (tuner_wanted), nobody has chosen already, and no pass is being captured.
bool measures();

// Measures on a back end of its own and keeps what was found. Nothing happens where another thread of this process is
// at it, where a file is there already, where `activity` closes, or where the GPU fails.
void tune(Activity& activity);

}  // namespace longhand::metal
