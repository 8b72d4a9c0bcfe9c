// The file with this device's measurements: a few lines of text beside the pipelines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metal/device/device.h"
#include "metal/tuning/tuning.h"

namespace longhand::metal {

// The tuner's result: one line per choice, with the figures behind it.
struct Measured {
  Tuning tuning;
  std::vector<std::string> reasons;  // in the order of choices()
};

// Empty if there is no file, or it is damaged or from another device, system, kernel text or set of choices: then
// measurements are repeated.
std::optional<Tuning> read_tuning(const Device& device);
// The tuning of a back end on this device, from the chip's table, the measurements and the environment; the last wins.
Tuning tuning_for(const Device& device);
// If the folder cannot be written, the next start measures again.
void write_tuning(const Device& device, const Measured& measured);

}  // namespace longhand::metal
