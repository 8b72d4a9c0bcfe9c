// Stub for systems without a text recogniser.
#include "formats/error.h"
#include "vision/recognise.h"

namespace longhand {

bool can_recognise() { return false; }

std::vector<RecognisedLine> recognise(std::span<const std::byte>) {
  throw Unsupported("[vision] this system has no recogniser of texts; macOS has");
}

}  // namespace longhand
