// A small Objective-C runtime for Linux that speaks the Apple (modern, LP64) ABI, which clang emits on ELF with
// -fobjc-runtime=macosx-10.15. Enough for ARC, blocks, weak references, properties, categories, fast enumeration.
// This is the layout of what clang emits, and what the parts of the runtime share.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
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

inline std::recursive_mutex& mu() {
  static auto* m = new std::recursive_mutex;
  return *m;
}
#define LOCK std::lock_guard<std::recursive_mutex> lk(mu())

extern "C" {
extern cls cls_NSObject __asm__("OBJC_CLASS_$_NSObject");
extern cls _NSConcreteStackBlock, _NSConcreteGlobalBlock, _NSConcreteMallocBlock;
SEL sel_registerName(const char* name);
bool class_respondsToSelector(Class c, SEL s);
IMP objc_lookup(Class c, SEL s);
id objc_retain(id o);
void objc_release(id o);
void* _Block_copy(const void* block);
void _Block_release(const void* block);
}
