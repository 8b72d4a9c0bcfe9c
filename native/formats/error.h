// Thrown for a file that a reader refuses: "[gguf] tensor "x" ends at byte 9120, the file has 8192".
#pragma once

#include <stdexcept>
#include <string>

namespace longhand {

struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A well-formed file that the engine cannot run; the message lists every reason.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A GPU failed or refused its work; the running pass is lost, the CPU can take over.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Too little memory for what was asked.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace longhand
