#include "engine/session.h"

namespace longhand {

int64_t Session::snapshot() {
  timeline_.take_snapshot(SnapshotKind::requested);
  return timeline_.length();
}

int64_t Session::rewind(int64_t length, const std::atomic<bool>* cancel) { return timeline_.rewind(length, cancel); }

}  // namespace longhand
