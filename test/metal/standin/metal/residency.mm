// Residency sets: what is in one after `commit` is wired. A buffer placed in a heap is wired with its heap. No document
// says that a set keeps its allocations alive, so this one does not, and knows when one has gone.
#include "metal/classes.h"

using standin::misuse;

@implementation MTLResidencySetDescriptor
@end

@implementation StandinResidencySet {
  std::map<void*, __weak id<MTLAllocation>> wanted;
  uint64_t wired;
}
- (void)dealloc {
  [self wire:0];
}
- (void)wire:(uint64_t)bytes {
  std::lock_guard guard(standin::state().lock);
  standin::state().counters.resident += bytes - wired;
  wired = bytes;
}
- (NSUInteger)allocationCount {
  return wanted.size();
}
- (BOOL)containsAllocation:(id<MTLAllocation>)one {
  return wanted.count((__bridge void*)one) != 0;
}
- (void)addAllocation:(id<MTLAllocation>)one {
  if (!one) misuse("nil allocation in a residency set");
  if ([(id)one isKindOfClass:[StandinBuffer class]] && ((StandinBuffer*)one)->inside)
    misuse("a buffer placed in a heap is resident with its heap: add the heap");
  wanted[(__bridge void*)one] = one;
}
- (void)removeAllocation:(id<MTLAllocation>)one {
  if (!wanted.erase((__bridge void*)one)) misuse("the allocation is not in the residency set");
}
- (void)commit {
  uint64_t bytes = 0;
  for (const auto& [key, one] : wanted) {
    if (!one) misuse("an allocation was freed while it was in the residency set");
    bytes += one.allocatedSize;
  }
  [self wire:bytes];
}
- (void)requestResidency {
}
- (void)endResidency {
}
@end
