#include "engine/session.h"

namespace longhand {

GenerateResult Session::generate(std::span<const int32_t> prompt, const GenerateOptions& options) {
  Generation generation(timeline_, prompt, options);
  while (generation.step()) continue;
  return generation.result();
}

GenerateResult Session::read(std::span<const int32_t> prefix, GenerateOptions options) {
  options.read_only = true;
  return generate(prefix, options);
}

int64_t Session::snapshot() {
  timeline_.take_snapshot(SnapshotKind::requested);
  return timeline_.length();
}

int64_t Session::rewind(int64_t length, const std::atomic<bool>* cancel) { return timeline_.rewind(length, cancel); }

}  // namespace longhand
