// What a compiled kernel calls: operations of a SIMD group, barriers, threadgroup memory.
#include <cstring>

#include "executor/worker.h"

using namespace standin;
extern "C" {
#define VISIBLE __attribute__((visibility("default")))
VISIBLE void* mtl_simd_slots(void) {
  SG& s = W->sg[W->cur >> 5];
  return s.slots[s.gen & 1];
}
VISIBLE unsigned mtl_simd_lane(void) { return W->cur & 31; }
VISIBLE unsigned mtl_thread_index(void) { return W->cur; }
VISIBLE void mtl_fault(const char* what, int line) {
  leave(std::string(what) + " at line " + std::to_string(line) + ", " + at(W->cur));
}
static int simd_arrive(Where why, unsigned* mask, int line) {
  Worker* w = W;
  int l = w->cur;
  SG& s = w->sg[l >> 5];
  if (!s.arrived) s.line = line;
  else if (s.line != line)
    leave("SIMD-group diverged: " + at(l) + " is at line " + std::to_string(line) + ", others at line " +
          std::to_string(s.line));
  s.arrived |= 1u << (l & 31);
  if (s.arrived == s.alive) {
    *mask = s.arrived;
    return 1;
  }
  block(w, why, line);
  if (w->compute[l]) {
    w->compute[l] = 0;
    *mask = s.arrived;
    return 1;
  }
  *mask = s.last_mask;
  return 0;
}
VISIBLE void* mtl_simd_op(const void* v, unsigned size, void (*f)(void*, unsigned), int line) {
  Worker* w = W;
  int l = w->cur;
  SG& s = w->sg[l >> 5];
  char* p = s.slots[s.gen & 1];
  char* q = p + (l & 31) * size;
  if (size == 4) memcpy(q, v, 4);
  else if (size == 2) memcpy(q, v, 2);
  else memcpy(q, v, size);
  unsigned m;
  if (simd_arrive(AT_SIMD, &m, line)) {
    f(p, m);
    mtl_simd_release();
  }
  return p;
}
VISIBLE int mtl_simd_arrive(unsigned* mask, int line) {
  W->st.matrix_operations += (W->cur & 31) == 0;
  return simd_arrive(AT_SIMD, mask, line);
}
VISIBLE void mtl_simd_release(void) {
  Worker* w = W;
  int l = w->cur;
  SG& s = w->sg[l >> 5];
  w->st.simd_operations++;
  for (unsigned m = s.arrived & ~(1u << (l & 31)); m; m &= m - 1) w->wake((l & ~31) + __builtin_ctz(m));
  s.last_mask = s.arrived;
  s.arrived = 0;
  s.gen++;
}
VISIBLE void mtl_simdgroup_barrier(int flags, int line) {
  unsigned m;
  if (simd_arrive(AT_SGBAR, &m, line)) {
    if (W->chk.on) W->chk.simdgroup_barrier(W->cur >> 5, flags);
    mtl_simd_release();
  }
}
VISIBLE void mtl_threadgroup_barrier(int flags, int line) {
  Worker* w = W;
  int l = w->cur;
  if (w->done)
    leave("threadgroup_barrier at line " + std::to_string(line) + " reached by " + at(l) +
          " after other threads returned");
  if (!w->tg_arrived) w->tg_line = line;
  else if (w->tg_line != line)
    leave("threadgroup diverged: " + at(l) + " is in threadgroup_barrier at line " + std::to_string(line) +
          ", others at line " + std::to_string(w->tg_line));
  if (++w->tg_arrived < (unsigned)w->n) {
    block(w, AT_TGBAR, line);
    return;
  }
  w->tg_arrived = 0;
  w->st.barriers++;
  if (w->chk.on) w->chk.threadgroup_barrier(flags);
  if (w->o->order == Order::reverse) {
    for (int i = w->n - 1; i >= 0; i--)
      if (i != l) w->wake(i);
  } else
    for (int i = 0; i < w->n; i++)
      if (i != l) w->wake(i);
}
VISIBLE void mtl_tensor_operation(unsigned simdgroups, int line) {
  if ((unsigned)W->n != 32 * simdgroups)
    leave("a tensor operation of " + std::to_string(simdgroups) + " simdgroups at line " + std::to_string(line) +
          " is run by " + std::to_string(W->n) + " threads");
  mtl_threadgroup_barrier(0, line);
}
VISIBLE void* mtl_tg_alloc(unsigned id, unsigned long size, unsigned long align) {
  Worker* w = W;
  void*& p = w->tg_id[id];
  if (p) return p;
  if (align < 16) align = 16;
  size_t o = (w->tg_used + align - 1) & ~(align - 1);
  if (o + size > TGMEM) leave("threadgroup memory exceeds 32 KiB");
  w->tg_used = o + size;
  p = w->tgmem + o;
  memset(p, 0xff, size);
  if (w->chk.on) w->chk.threadgroup_region(p, size);
  return p;
}
}

// float -> bfloat16, which older libgcc / compiler-rt lack; called when the CPU has no bf16 instruction
extern "C" __attribute__((visibility("default"))) __bf16 __truncsfbf2(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  u = (f != f) ? (u >> 16) | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
  uint16_t h = (uint16_t)u;
  __bf16 r;
  memcpy(&r, &h, 2);
  return r;
}
