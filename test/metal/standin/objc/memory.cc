// Memory: a 16-byte header in front of every object counts its owners. Weak references, autorelease pools, properties.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "objc/runtime.h"

extern "C" {
struct hdr {
  std::atomic<int32_t> rc;
  std::atomic<int32_t> weak;
  uint64_t magic;
};
static constexpr uint64_t LIVE = 0x0BEC7A11FEu, DEADM = 0xDEAD0B7EC7ull;
static inline hdr* H(id o) { return (hdr*)o - 1; }
static std::atomic<long> live_objects;
long objc_live_objects() { return live_objects; }
extern cls NSConstStr __asm__("OBJC_CLASS_$_NSConstantString");
static inline bool is_block(id o) {
  return o->isa == &_NSConcreteStackBlock || o->isa == &_NSConcreteGlobalBlock || o->isa == &_NSConcreteMallocBlock;
}
static inline bool immortal(id o) {
  return o->isa == &NSConstStr || (o->isa->isa && o->isa->isa->isa == cls_NSObject.isa && (o->isa->data->flags & 1));
}
id class_createInstance(Class c, size_t extra);
static void cxx_construct(id o, Class c) {
  static SEL s = sel_registerName(".cxx_construct");
  if (c->super) cxx_construct(o, c->super);
  auto i = c->r->m.find(s);
  if (i != c->r->m.end()) ((id(*)(id, SEL))i->second)(o, s);
}
id objc_create(Class c) { return class_createInstance(c, 0); }
id class_createInstance(Class c, size_t extra) {
  auto* h = (hdr*)calloc(1, sizeof(hdr) + c->data->size + extra);
  h->rc = 1;
  h->magic = LIVE;
  id o = (id)(h + 1);
  o->isa = c;
  live_objects++;
  cxx_construct(o, c);
  return o;
}
static auto& weaks() {
  static auto* w = new std::unordered_map<id, std::unordered_set<id*>>;
  return *w;
}
static void cxx_destruct(id o) {
  SEL s = sel_registerName(".cxx_destruct");
  for (Class c = o->isa; c; c = c->super) {
    auto i = c->r->m.find(s);
    if (i != c->r->m.end()) ((void (*)(id, SEL))i->second)(o, s);
  }
}
void object_dispose(id o) {
  cxx_destruct(o);
  hdr* h = H(o);
  h->magic = DEADM;
  o->isa = nullptr;
  live_objects--;
  free(h);
}
id objc_retain(id o) {
  if (!o) return o;
  if (is_block(o)) return (id)_Block_copy(o);
  if (!immortal(o)) {
    if (H(o)->magic != LIVE) {
      fprintf(stderr, "*** retain of a dead object\n");
      abort();
    }
    H(o)->rc++;
  }
  return o;
}
void objc_release(id o) {
  if (!o) return;
  if (is_block(o)) {
    _Block_release(o);
    return;
  }
  if (immortal(o)) return;
  if (H(o)->magic != LIVE) {
    fprintf(stderr, "*** release of a dead object\n");
    abort();
  }
  if (--H(o)->rc) return;
  if (H(o)->weak) {
    LOCK;
    if (H(o)->rc > 0) return;
    auto i = weaks().find(o);
    if (i != weaks().end()) {
      for (id* p : i->second) *p = nullptr;
      weaks().erase(i);
    }
  }
  static SEL s = sel_registerName("dealloc");
  ((void (*)(id, SEL))objc_lookup(o->isa, s))(o, s);
}
struct Pool {
  std::vector<id> v;
};
static thread_local Pool pool;
id objc_autorelease(id o) {
  if (o && !immortal(o)) pool.v.push_back(o);
  return o;
}
void* objc_autoreleasePoolPush() {
  pool.v.push_back(nullptr);
  return (void*)pool.v.size();
}
void objc_autoreleasePoolPop(void* p) {
  size_t n = (size_t)p - 1;
  while (pool.v.size() > n) {
    id o = pool.v.back();
    pool.v.pop_back();
    objc_release(o);
  }
}
id objc_retainAutorelease(id o) { return objc_autorelease(objc_retain(o)); }
id objc_autoreleaseReturnValue(id o) { return objc_autorelease(o); }
id objc_retainAutoreleaseReturnValue(id o) { return objc_retainAutorelease(o); }
id objc_retainAutoreleasedReturnValue(id o) { return objc_retain(o); }
id objc_claimAutoreleasedReturnValue(id o) { return objc_retain(o); }
id objc_unsafeClaimAutoreleasedReturnValue(id o) { return o; }
id objc_retainBlock(id o) { return (id)_Block_copy(o); }
void objc_storeStrong(id* p, id o) {
  id old = *p;
  if (old == o) return;
  *p = objc_retain(o);
  objc_release(old);
}
id objc_storeWeak(id* p, id o) {
  LOCK;
  if (*p) {
    auto i = weaks().find(*p);
    if (i != weaks().end()) i->second.erase(p);
  }
  *p = o;
  if (o) {
    H(o)->weak = 1;
    weaks()[o].insert(p);
  }
  return o;
}
id objc_initWeak(id* p, id o) {
  *p = nullptr;
  return objc_storeWeak(p, o);
}
void objc_destroyWeak(id* p) { objc_storeWeak(p, nullptr); }
id objc_loadWeakRetained(id* p) {
  LOCK;
  id o = *p;
  if (!o || H(o)->rc <= 0) return nullptr;
  return objc_retain(o);
}
id objc_loadWeak(id* p) { return objc_autorelease(objc_loadWeakRetained(p)); }
void objc_copyWeak(id* d, id* s) {
  LOCK;
  objc_initWeak(d, *s);
}
void objc_moveWeak(id* d, id* s) {
  LOCK;
  objc_initWeak(d, *s);
  objc_destroyWeak(s);
}
static id send(id o, const char* s) {
  SEL q = sel_registerName(s);
  return ((id(*)(id, SEL))objc_lookup(o->isa, q))(o, q);
}
id objc_alloc(Class c) { return c ? send((id)c, "alloc") : nullptr; }
id objc_allocWithZone(Class c) { return objc_alloc(c); }
id objc_alloc_init(Class c) {
  id o = objc_alloc(c);
  return o ? send(o, "init") : nullptr;
}
id objc_opt_new(Class c) { return objc_alloc_init(c); }
id objc_opt_self(id o) { return o; }
Class objc_opt_class(id o) { return o ? ((o->isa->data->flags & 1) ? (Class)o : o->isa) : nullptr; }
bool objc_opt_isKindOfClass(id o, Class k) {
  if (!o) return false;
  for (Class c = o->isa; c; c = c->super)
    if (c == k) return true;
  return false;
}
bool objc_opt_respondsToSelector(id o, SEL s) { return o && class_respondsToSelector(o->isa, s); }
id objc_getProperty(id o, SEL, ptrdiff_t off, bool atomic) {
  id* p = (id*)((char*)o + off);
  if (!atomic) return *p;
  LOCK;
  return objc_autorelease(objc_retain(*p));
}
static void setprop(id o, id v, ptrdiff_t off, bool copy) {
  id* p = (id*)((char*)o + off);
  id n = copy && v ? (is_block(v) ? (id)_Block_copy(v) : send(v, "copy")) : objc_retain(v);
  id old;
  {
    LOCK;
    old = *p;
    *p = n;
  }
  objc_release(old);
}
void objc_setProperty(id o, SEL, ptrdiff_t off, id v, bool, signed char copy) { setprop(o, v, off, copy); }
void objc_setProperty_nonatomic(id o, SEL, id v, ptrdiff_t off) { setprop(o, v, off, false); }
void objc_setProperty_atomic(id o, SEL, id v, ptrdiff_t off) { setprop(o, v, off, false); }
void objc_setProperty_nonatomic_copy(id o, SEL, id v, ptrdiff_t off) { setprop(o, v, off, true); }
void objc_setProperty_atomic_copy(id o, SEL, id v, ptrdiff_t off) { setprop(o, v, off, true); }
void objc_copyStruct(void* d, const void* s, ptrdiff_t n, bool, bool) {
  LOCK;
  memmove(d, s, n);
}
int objc_sync_enter(id) {
  mu().lock();
  return 0;
}
int objc_sync_exit(id) {
  mu().unlock();
  return 0;
}
void objc_enumerationMutation(id) {
  fprintf(stderr, "*** collection mutated while enumerated\n");
  abort();
}
void objc_exception_throw(id) {
  fprintf(stderr, "*** Objective-C exception\n");
  abort();
}
}
