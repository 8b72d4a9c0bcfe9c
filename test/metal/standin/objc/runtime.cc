// Classes, categories and the lookup of methods; objc_msgSend in assembly.
#include "objc/runtime.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>

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

static auto& sels() {
  static auto* s = new std::unordered_set<std::string>;
  return *s;
}
static auto& classes() {
  static auto* s = new std::unordered_map<std::string, Class>;
  return *s;
}
extern "C" {
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

void* _objc_empty_cache;
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
