// A small Objective-C runtime for Linux that speaks the Apple (modern, LP64) ABI, which clang emits on ELF with
// -fobjc-runtime=macosx-10.15. Enough for ARC, blocks, weak references, properties, categories, fast enumeration.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>
typedef struct cls* Class;
typedef struct obj {
  Class isa;
}* id;
typedef const char* SEL;
typedef void (*IMP)(void);
struct method {
  SEL name;
  const char* types;
  IMP imp;
};
struct mlist {
  uint32_t entsize, count;
  method m[];
};
struct ivar {
  int32_t* offset;
  const char *name, *type;
  uint32_t align, size;
};
struct ilist {
  uint32_t entsize, count;
  ivar v[];
};
struct ro {
  uint32_t flags, start, size, pad;
  const uint8_t* layout;
  const char* name;
  mlist* methods;
  void* protocols;
  ilist* ivars;
  const uint8_t* weak;
  void* props;
};
struct rt {
  std::unordered_map<SEL, IMP> m;
  std::unordered_map<SEL, const char*> types;
  std::vector<struct proto*> protos;
};
struct cls {
  Class isa, super;
  void* cache;
  rt* r;
  ro* data;
};
struct plist {
  uint64_t n;
  struct proto* p[];
};
struct proto {
  Class isa;
  const char* name;
  plist* protocols; /* … */
};
struct cat {
  const char* name;
  Class c;
  mlist *inst, *klass;
  plist* protocols;
};
struct image {
  Class *cl0, *cl1;
  cat **ca0, **ca1;
  SEL *se0, *se1;
  Class *nl0, *nl1;
};

static std::recursive_mutex& mu() {
  static auto* m = new std::recursive_mutex;
  return *m;
}
#define LOCK std::lock_guard<std::recursive_mutex> lk(mu())
static auto& sels() {
  static auto* s = new std::unordered_set<std::string>;
  return *s;
}
static auto& classes() {
  static auto* s = new std::unordered_map<std::string, Class>;
  return *s;
}
extern "C" {
extern cls cls_NSObject __asm__("OBJC_CLASS_$_NSObject");
SEL sel_registerName(const char* n) {
  LOCK;
  return sels().insert(n).first->c_str();
}
const char* sel_getName(SEL s) { return s; }
const char* class_getName(Class c) { return c->data->name; }
Class object_getClass(id o) { return o ? o->isa : nullptr; }
Class class_getSuperclass(Class c) { return c ? c->super : nullptr; }
Class objc_getClass(const char* n) {
  LOCK;
  auto i = classes().find(n);
  return i == classes().end() ? nullptr : i->second;
}
Class objc_lookUpClass(const char* n) { return objc_getClass(n); }
cls _NSConcreteStackBlock, _NSConcreteGlobalBlock, _NSConcreteMallocBlock;
}
static void add_methods(Class c, mlist* l) {
  if (l)
    for (uint32_t i = 0; i < l->count; i++) {
      auto* m = (method*)((char*)l->m + i * (l->entsize & ~3u));
      m->name = sel_registerName(m->name);
      c->r->m[m->name] = m->imp;
      c->r->types[m->name] = m->types;
    }
}
static void setup(Class c) {
  if (c->r) return;
  if (c->super) {
    setup(c->super);
    if (c->isa != c && c->super->r == nullptr) setup(c->super);
  }
  c->r = new rt;
  c->isa->r = c->isa->r ? c->isa->r : new rt;
  if (c->super && !(c->data->flags & 1) && c->data->start < c->super->data->size) {  // non-fragile instance variables
    uint32_t d = ((c->super->data->size - c->data->start) + 15) & ~15u;
    if (c->data->ivars)
      for (uint32_t i = 0; i < c->data->ivars->count; i++)
        if (c->data->ivars->v[i].offset) *c->data->ivars->v[i].offset += (int32_t)d;
    c->data->start += d;
    c->data->size += d;
  }
  add_methods(c, c->data->methods);
  add_methods(c->isa, c->isa->data->methods);
  if (auto* p = (plist*)c->data->protocols)
    for (uint64_t i = 0; i < p->n; i++) c->r->protos.push_back(p->p[i]);
  classes()[c->data->name] = c;
}
extern "C" {
void objc_register_image(image* im) {
  LOCK;
  for (SEL* s = im->se0; s < im->se1; s++)
    if (*s) *s = sel_registerName(*s);
  for (Class* c = im->cl0; c < im->cl1; c++)
    if (*c) setup(*c);
  for (cat** c = im->ca0; c < im->ca1; c++)
    if (*c) {
      add_methods((*c)->c, (*c)->inst);
      add_methods((*c)->c->isa, (*c)->klass);
    }
  SEL load = sel_registerName("load");
  for (Class* c = im->nl0; c < im->nl1; c++)
    if (*c) {
      auto i = (*c)->isa->r->m.find(load);
      if (i != (*c)->isa->r->m.end()) ((void (*)(Class, SEL))i->second)(*c, load);
    }
}
static IMP find(Class c, SEL s) {
  for (; c; c = c->super) {
    auto i = c->r->m.find(s);
    if (i != c->r->m.end()) return i->second;
  }
  return nullptr;
}
IMP class_getMethodImplementation(Class c, SEL s) { return find(c, s); }
bool class_respondsToSelector(Class c, SEL s) { return find(c, s) != nullptr; }
const char* objc_method_types(Class c, SEL s) {
  for (; c; c = c->super) {
    auto i = c->r->types.find(s);
    if (i != c->r->types.end()) return i->second;
  }
  return nullptr;
}
bool class_conformsToName(Class c, const char* n) {
  std::vector<proto*> q;
  for (; c; c = c->super)
    for (auto* p : c->r->protos) q.push_back(p);
  while (!q.empty()) {
    proto* p = q.back();
    q.pop_back();
    if (!strcmp(p->name, n)) return true;
    if (p->protocols)
      for (uint64_t i = 0; i < p->protocols->n; i++) q.push_back(p->protocols->p[i]);
  }
  return false;
}
struct cache_ent {
  std::atomic<Class> c;
  SEL s;
  IMP i;
};
[[noreturn]] static void unrecognized(Class c, SEL s) {
  bool meta = c->data->flags & 1;
  fprintf(stderr, "*** %c[%s %s]: unrecognized selector\n", meta ? '+' : '-', c->data->name, s);
  abort();
}
IMP objc_lookup(Class c, SEL s) {
  static thread_local struct {
    Class c;
    SEL s;
    IMP i;
  } cache[1024];
  auto& e = cache[((uintptr_t)c >> 4 ^ (uintptr_t)s >> 3) & 1023];
  if (e.c == c && e.s == s) return e.i;
  IMP i = find(c, s);
  if (!i) unrecognized(c, s);
  e.c = c;
  e.s = s;
  e.i = i;
  return i;
}
struct objc_super {
  id receiver;
  Class c;
};
IMP objc_lookup_super(objc_super* su, SEL s) { return objc_lookup(su->c->super, s); }

// ---- memory: a 16-byte header in front of every object ----
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
void* _Block_copy(const void*);
void _Block_release(const void*);
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
void* _objc_empty_cache;
// ---- blocks ----
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
asm(R"(.text
.macro SAVE
  pushq %rbp; movq %rsp, %rbp; subq $192, %rsp
  movq %rdi, -8(%rbp); movq %rsi, -16(%rbp); movq %rdx, -24(%rbp); movq %rcx, -32(%rbp); movq %r8, -40(%rbp); movq %r9, -48(%rbp); movq %rax, -56(%rbp)
  movups %xmm0, -80(%rbp); movups %xmm1, -96(%rbp); movups %xmm2, -112(%rbp); movups %xmm3, -128(%rbp); movups %xmm4, -144(%rbp); movups %xmm5, -160(%rbp); movups %xmm6, -176(%rbp); movups %xmm7, -192(%rbp)
.endm
.macro RESTORE
  movq %rax, %r11
  movq -8(%rbp), %rdi; movq -16(%rbp), %rsi; movq -24(%rbp), %rdx; movq -32(%rbp), %rcx; movq -40(%rbp), %r8; movq -48(%rbp), %r9; movq -56(%rbp), %rax
  movups -80(%rbp), %xmm0; movups -96(%rbp), %xmm1; movups -112(%rbp), %xmm2; movups -128(%rbp), %xmm3; movups -144(%rbp), %xmm4; movups -160(%rbp), %xmm5; movups -176(%rbp), %xmm6; movups -192(%rbp), %xmm7
  leave
.endm
.globl objc_msgSend, objc_msgSend_fpret
.type objc_msgSend,@function
objc_msgSend: objc_msgSend_fpret:
  testq %rdi, %rdi; je 1f
  SAVE; movq (%rdi), %rdi; call objc_lookup@PLT; RESTORE; jmp *%r11
1: xorl %eax, %eax; xorl %edx, %edx; xorps %xmm0, %xmm0; xorps %xmm1, %xmm1; ret
.globl objc_msgSend_stret
.type objc_msgSend_stret,@function
objc_msgSend_stret:
  testq %rsi, %rsi; je 1f
  SAVE; movq (%rsi), %rdi; movq %rdx, %rsi; call objc_lookup@PLT; RESTORE; jmp *%r11
1: movq %rdi, %rax; ret
.globl objc_msgSendSuper2
.type objc_msgSendSuper2,@function
objc_msgSendSuper2:
  SAVE; call objc_lookup_super@PLT; RESTORE; movq (%rdi), %rdi; jmp *%r11
.globl objc_msgSendSuper2_stret
.type objc_msgSendSuper2_stret,@function
objc_msgSendSuper2_stret:
  SAVE; movq %rsi, %rdi; movq %rdx, %rsi; call objc_lookup_super@PLT; RESTORE; movq (%rsi), %rsi; jmp *%r11
.globl __objc_personality_v0
.set __objc_personality_v0, __gxx_personality_v0
)");
