// Errors of values that only turn up while computing; those of files and memory are in formats/error.h.
#pragma once

#include <stdexcept>

namespace longhand {

// A model produced NaN or infinity: its weights are damaged.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace longhand
