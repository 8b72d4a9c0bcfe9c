// Blocks: copied to the heap with what they captured.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "objc/runtime.h"

extern "C" {
struct bdesc {
  unsigned long reserved, size;
  void (*copy)(void*, const void*);
  void (*dispose)(const void*);
};
struct block {
  Class isa;
  std::atomic<int> flags;
  int pad;
  void* invoke;
  bdesc* d;
};
struct byref {
  void* isa;
  byref* fwd;
  std::atomic<int> flags;
  uint32_t size;
  void (*keep)(byref*, byref*);
  void (*destroy)(byref*);
};
enum { B_RC = 0xfffe, B_FREE = 1 << 24, B_CD = 1 << 25, B_GLOBAL = 1 << 28 };
void* _Block_copy(const void* a) {
  auto* b = (block*)a;
  if (!b || (b->flags & B_GLOBAL)) return b;
  if (b->flags & B_FREE) {
    b->flags += 2;
    return b;
  }
  auto* n = (block*)malloc(b->d->size);
  memcpy((void*)n, b, b->d->size);
  n->flags = (b->flags & ~(B_RC | B_FREE)) | B_FREE | 2;
  n->isa = &_NSConcreteMallocBlock;
  if (n->flags & B_CD) n->d->copy(n, b);
  return n;
}
void _Block_release(const void* a) {
  auto* b = (block*)a;
  if (!b || (b->flags & B_GLOBAL) || !(b->flags & B_FREE)) return;
  if (((b->flags -= 2) & B_RC) == 0) {
    if (b->flags & B_CD) b->d->dispose(b);
    free(b);
  }
}
void _Block_object_assign(void* d, const void* s, int f) {
  if (f & 128) {
    *(const void**)d = s;
    return;
  }
  if ((f & 15) == 3) {
    *(id*)d = objc_retain((id)s);
    return;
  }
  if ((f & 15) == 7) {
    *(void**)d = _Block_copy(s);
    return;
  }
  if (f & 8) {
    auto* r = (byref*)s;
    if ((r->fwd->flags & B_RC) == 0) {
      auto* n = (byref*)malloc(r->size);
      memcpy((void*)n, r, r->size);
      n->isa = nullptr;
      n->flags = r->flags | B_FREE | 4;
      n->fwd = n;
      r->fwd = n;
      if (r->flags & B_CD) {
        n->keep = r->keep;
        n->destroy = r->destroy;
        n->keep(n, r);
      }
    } else if (r->fwd->flags & B_FREE) r->fwd->flags += 2;
    *(void**)d = r->fwd;
    return;
  }
  *(const void**)d = s;
}
void _Block_object_dispose(const void* s, int f) {
  if (f & 128) return;
  if ((f & 15) == 3) objc_release((id)s);
  else if ((f & 15) == 7) _Block_release(s);
  else if (f & 8) {
    auto* r = ((byref*)s)->fwd;
    if (!(r->flags & B_FREE)) return;
    if (((r->flags -= 2) & B_RC) == 0) {
      if (r->flags & B_CD) r->destroy(r);
      free(r);
    }
  }
}
}
