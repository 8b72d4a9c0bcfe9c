// Placement heaps: buffers at offsets the host chose, which may lie over one another. Which of two that overlap is
// alive is the host's business; that one is not used while the other still is, is checked by the bytes dispatches
// touch.
#include "metal/classes.h"

using standin::misuse;

constexpr NSUInteger kHeapAlign = 256;

@implementation MTLHeapDescriptor
@end

static void count(NSUInteger bytes, bool made) {
  std::lock_guard guard(standin::state().lock);
  uint64_t& all = standin::state().counters.heap_bytes;
  all = made ? all + bytes : all - bytes;
}

@implementation StandinHeap
- (void)dealloc {
  count(_size, false);
}
- (NSUInteger)allocatedSize {
  return _size;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)n options:(MTLResourceOptions)options offset:(NSUInteger)at {
  if (_type != MTLHeapTypePlacement) misuse("an offset needs a heap of type placement");
  if (at % kHeapAlign) misuse("heap offset " + std::to_string(at) + " is not a multiple of 256");
  if (static_cast<MTLStorageMode>((options >> 4) & 15) != _storageMode)
    misuse("a buffer's storage mode must be that of its heap");
  if (!n || at + n > _size)
    misuse("a buffer of " + std::to_string(n) + " bytes at " + std::to_string(at) + " ends outside a heap of " +
           std::to_string(_size));
  return [[StandinBuffer alloc] initInside:memory at:at length:n];
}
@end

MTLSizeAndAlign standin_heap_need(NSUInteger n) { return {(n + kHeapAlign - 1) / kHeapAlign * kHeapAlign, kHeapAlign}; }

id<MTLHeap> standin_heap(MTLHeapDescriptor* descriptor) {
  if (!descriptor.size) misuse("heap of zero size");
  StandinHeap* heap = [StandinHeap new];
  heap->memory = [[StandinBuffer alloc] initWithLength:descriptor.size mode:descriptor.storageMode];
  heap.size = descriptor.size;
  count(heap.size, true);
  heap.storageMode = descriptor.storageMode;
  heap.type = descriptor.type;
  heap.hazardTrackingMode = descriptor.hazardTrackingMode;
  return heap;
}
