// Errors of sessions. Errors about files and memory are in formats/error.h.
#pragma once

#include <stdexcept>

namespace longhand {

// The prompt alone is longer than the session's context.
struct ContextError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A model or session was used after it was closed.
struct ClosedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace longhand
