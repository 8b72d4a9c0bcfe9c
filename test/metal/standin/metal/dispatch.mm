// Sources of memory pressure: raised by a test, heard on a thread of their own.
#include <dispatch/dispatch.h>

#include <set>
#include <thread>

#include "metal/classes.h"
#include "metal/pressure.h"

using standin::misuse;

struct dispatch_source_type_s {};
const struct dispatch_source_type_s _dispatch_source_type_memorypressure{};

@interface StandinSource : NSObject {
 @public
  uintptr_t mask;
  dispatch_block_t handler;
}
@end

namespace {
std::mutex lock;
std::set<void*> active;  // StandinSource, each retained
}  // namespace

@implementation StandinSource
@end

dispatch_queue_t dispatch_get_global_queue(intptr_t, uintptr_t) {
  static NSObject* queue = [NSObject new];
  return queue;
}
dispatch_source_t dispatch_source_create(dispatch_source_type_t type, uintptr_t, uintptr_t mask, dispatch_queue_t) {
  if (type != DISPATCH_SOURCE_TYPE_MEMORYPRESSURE) misuse("only sources of memory pressure");
  StandinSource* source = [StandinSource new];
  source->mask = mask;
  return source;
}
void dispatch_source_set_event_handler(dispatch_source_t source, dispatch_block_t handler) {
  ((StandinSource*)source)->handler = handler;
}
void dispatch_activate(dispatch_source_t source) {
  if (!((StandinSource*)source)->handler) misuse("a source activated without a handler");
  const std::lock_guard guard(lock);
  active.insert(const_cast<void*>(CFBridgingRetain(source)));
}
void dispatch_source_cancel(dispatch_source_t source) {
  const std::lock_guard guard(lock);
  if (!active.erase((__bridge void*)source)) misuse("a source cancelled twice, or before it was activated");
  CFBridgingRelease((__bridge void*)source);
}

void standin::raise_pressure(bool critical) {
  const uintptr_t level = critical ? DISPATCH_MEMORYPRESSURE_CRITICAL : DISPATCH_MEMORYPRESSURE_WARN;
  std::vector<dispatch_block_t> handlers;
  {
    const std::lock_guard guard(lock);
    for (void* each : active)
      if (((__bridge StandinSource*)each)->mask & level) handlers.push_back(((__bridge StandinSource*)each)->handler);
  }
  std::thread([&] {
    for (dispatch_block_t handler : handlers) handler();
  }).join();
}
