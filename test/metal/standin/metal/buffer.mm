// Buffers: anonymous memory that ends at a page nobody may touch, or a view on memory the caller owns.
#include <sys/mman.h>

#include "metal/classes.h"

using standin::misuse;
using standin::state;

static void count(NSUInteger bytes, bool made) {
  std::lock_guard guard(state().lock);
  uint64_t& all = state().counters.allocated;
  all = made ? all + bytes : all - bytes;
}

@implementation StandinBuffer

- (instancetype)initWithLength:(NSUInteger)n mode:(MTLStorageMode)mode {
  if (!n) misuse("buffer of zero length");
  const size_t body = (n + 4095) & ~size_t{4095};
  mapping_bytes = body + 4096;
  mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  mprotect(static_cast<char*>(mapping) + body, 4096, PROT_NONE);
  bytes = static_cast<char*>(mapping) + body - ((n + 15) & ~size_t{15});
  _length = n;
  _storageMode = mode;
  count(n, true);
  return self;
}

- (instancetype)initAround:(void*)p length:(NSUInteger)n release:(void (^)(void*, NSUInteger))release {
  constexpr size_t page = 16384;
  if (reinterpret_cast<uintptr_t>(p) % page || n % page || !n)
    misuse("newBufferWithBytesNoCopy: pointer and length must be multiples of the page size (16384)");
  bytes = static_cast<char*>(p);
  _length = n;
  release_ = release;
  count(n, true);
  return self;
}

- (instancetype)initInside:(StandinBuffer*)memory at:(NSUInteger)offset length:(NSUInteger)n {
  inside = memory;
  bytes = memory->bytes + offset;
  _length = n;
  _storageMode = memory.storageMode;
  return self;
}

- (void)dealloc {
  if (!inside) count(_length, false);
  if (mapping) munmap(mapping, mapping_bytes);
  else if (release_) release_(bytes, _length);
}

- (void*)contents {
  return _storageMode == MTLStorageModePrivate ? nullptr : bytes;
}
- (NSUInteger)allocatedSize {
  return _length;
}
- (uint64_t)gpuAddress {
  return reinterpret_cast<uint64_t>(bytes);
}
- (void)didModifyRange:(NSRange)range {
  if (range.location + range.length > _length) misuse("didModifyRange outside the buffer");
}
@end
