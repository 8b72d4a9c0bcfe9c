// What was measured on this device, from one start to the next: a text of a few lines beside the pipelines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metal/device/device.h"
#include "metal/tuning/tuning.h"

namespace longhand::metal {

// What the tuner found out: a line a choice, with the figures that it was chosen by.
struct Measured {
  Tuning tuning;
  std::vector<std::string> reasons;  // in the order of choices()
};

// Nothing where none was written, or what is there is damaged, or of another device, system, kernel text or set of
// choices: then it is measured again.
std::optional<Tuning> read_tuning(const Device& device);
// What a back end on this device goes by: the chip's table, what was measured here, the environment; the last one wins.
Tuning tuning_for(const Device& device);
// A folder that cannot be written costs measuring again.
void write_tuning(const Device& device, const Measured& measured);

}  // namespace longhand::metal
