#include "executor/executor.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "executor/checker.h"
#include "executor/fibre.h"

namespace standin {
Options& options() {
  static Options o;
  return o;
}
namespace {
constexpr int MAXT = kMaxThreads, TGMEM = static_cast<int>(kThreadgroupBytes);
enum Where : uint8_t { RUN, AT_SIMD, AT_SGBAR, AT_TGBAR, DONE };
struct Fiber {
  void* sp;
  char* top;
};
struct SG {
  alignas(64) char slots[2][2048];
  unsigned gen, alive, arrived, last_mask;
  int line;
};
struct Worker {
  const Dispatch* d;
  const Options* o;
  mtl_args args;
  void* tgptr[31];
  mtl_lane lane[MAXT];
  Fiber* lane_fiber[MAXT];
  Where where[MAXT];
  int line[MAXT];
  uint8_t compute[MAXT];
  SG sg[MAXT / 32];
  int n = 0, cur = 0, started = 0, done = 0, perm[MAXT];
  uint16_t ready[MAXT];
  unsigned rh = 0, rt = 0;
  unsigned tg_arrived = 0;
  int tg_line = 0;
  std::vector<Fiber> fibers;
  std::vector<Fiber*> idle;
  Fiber* mine = nullptr;
  char* stacks = nullptr;
  size_t stack_bytes = 0;
  void* sched_sp = nullptr;
  alignas(256) char tgmem[TGMEM + 4096];
  size_t tg_used = 0;
  void* tg_id[256];
  std::string fault;
  Work st;
  uint64_t rng = 1;
  Checker chk;

  uint64_t rand() {
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng;
  }
  ~Worker() {
    if (stacks) munmap(stacks, stack_bytes);
  }
  void init_stacks() {
    size_t each = o->stack_bytes + 4096;
    stack_bytes = each * MAXT;
    stacks =
        (char*)mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fibers.resize(MAXT);
    for (int i = 0; i < MAXT; i++) {
      mprotect(stacks + each * i, 4096, PROT_NONE);
      fibers[i].top = stacks + each * (i + 1) - 64 * (i % 61);
    }
  }
  void wake(int l) { ready[rt++ % MAXT] = (uint16_t)l; }
};
thread_local Worker* W;

[[noreturn]] void leave(const std::string& what) {
  if (W->fault.empty()) W->fault = what;
  void* dummy;
  mtl_switch(&dummy, W->sched_sp);
  __builtin_unreachable();
}
std::string at(int l) {
  const mtl_lane& t = W->lane[l];
  char b[160];
  snprintf(b, sizeof b, "thread %d of threadgroup (%u,%u,%u)", l, t.threadgroup_position_in_grid.x,
           t.threadgroup_position_in_grid.y, t.threadgroup_position_in_grid.z);
  return b;
}
void fiber_main();
// chooses what runs next; never returns to the caller unless the chosen lane is the caller's own fiber
int pick(Worker* w) {
  bool fresh = w->started < w->n;
  if (w->rh != w->rt && !(w->o->order == Order::random && fresh && (w->rand() & 1))) {
    if (w->o->order == Order::random) {
      unsigned k = w->rh + w->rand() % (w->rt - w->rh);
      std::swap(w->ready[k % MAXT], w->ready[w->rh % MAXT]);
    }
    return w->ready[w->rh++ % MAXT];
  }
  return fresh ? -1 : -2;
}
void deadlock(Worker* w) {
  std::string s = "deadlock:";
  int shown = 0;
  for (int i = 0; i < w->n && shown < 6; i++)
    if (w->where[i] != DONE) {
      bool dup = false;
      for (int j = 0; j < i; j++) dup |= w->where[j] == w->where[i] && w->line[j] == w->line[i];
      if (!dup) {
        s += " " + at(i) + " waits in " +
             (w->where[i] == AT_TGBAR   ? "threadgroup_barrier"
              : w->where[i] == AT_SGBAR ? "simdgroup_barrier"
                                        : "a simd op") +
             " at line " + std::to_string(w->line[i]) + ";";
        shown++;
      }
    }
  if (w->done) s += " " + std::to_string(w->done) + " threads have returned";
  leave(s);
}
void block(Worker* w, Where why, int line) {
  int me = w->cur;
  w->where[me] = why;
  w->line[me] = line;
  int l = pick(w);
  if (l == -2) deadlock(w);
  w->st.switches++;
  Fiber* f = w->mine;
  if (l >= 0) {
    if (l != me) {
      w->cur = l;
      w->mine = w->lane_fiber[l];
      mtl_switch(&f->sp, w->mine->sp);
    }
  } else {
    Fiber* g = w->idle.back();
    w->idle.pop_back();
    g->sp = fresh_stack(g->top, fiber_main);
    w->mine = g;
    mtl_switch(&f->sp, g->sp);
  }
  w->cur = me;
  w->mine = f;
  w->where[me] = RUN;
}
void simd_leave(Worker* w, int l) {  // a lane returned: it takes no further part
  SG& s = w->sg[l >> 5];
  s.alive &= ~(1u << (l & 31));
  if (s.alive && s.arrived == s.alive) {  // the others were only waiting for this one
    int c = (l & ~31) + __builtin_ctz(s.arrived);
    if (w->where[c] == AT_SGBAR) {
      for (unsigned m = s.arrived; m; m &= m - 1) w->wake((l & ~31) + __builtin_ctz(m));
      s.arrived = 0;
      s.gen++;
    } else {
      w->compute[c] = 1;
      w->wake(c);
    }
  }
}
void fiber_main() {
  Worker* w = W;
  for (;;) {
    int l = w->perm[w->started++];
    w->cur = l;
    w->lane_fiber[l] = w->mine;
    w->where[l] = RUN;
    w->d->kernel->entry(&w->args, &w->lane[l]);
    w->where[l] = DONE;
    w->done++;
    if (w->tg_arrived)
      leave("threadgroup_barrier at line " + std::to_string(w->tg_line) + " not reached by " + at(l) +
            ", which returned");
    simd_leave(w, l);
    int nx = pick(w);
    if (nx == -1) continue;  // reuse this stack for the next thread
    Fiber* f = w->mine;
    if (nx == -2) {
      if (w->done == w->n) {
        mtl_switch(&f->sp, w->sched_sp);
        __builtin_unreachable();
      }
      deadlock(w);
    }
    w->idle.push_back(f);
    w->cur = nx;
    w->mine = w->lane_fiber[nx];
    w->st.switches++;
    mtl_switch(&f->sp, w->mine->sp);
    __builtin_unreachable();
  }
}
void run_group(Worker* w, mtl_u3 g, mtl_u3 ngroups) {
  const Dispatch& d = *w->d;
  mtl_u3 t = d.threadgroup;
  // partial threadgroups at the edge (dispatchThreads)
  mtl_u3 a{std::min(t.x, d.grid.x - g.x * t.x), std::min(t.y, d.grid.y - g.y * t.y),
           std::min(t.z, d.grid.z - g.z * t.z)};
  int n = 0;
  for (unsigned z = 0; z < a.z; z++)
    for (unsigned y = 0; y < a.y; y++)
      for (unsigned x = 0; x < a.x; x++, n++) {
        mtl_lane& l = w->lane[n];
        l.thread_position_in_threadgroup = {x, y, z};
        l.threadgroup_position_in_grid = g;
        l.thread_position_in_grid = {g.x * t.x + x, g.y * t.y + y, g.z * t.z + z};
        l.threads_per_threadgroup = a;
        l.threadgroups_per_grid = ngroups;
        l.threads_per_grid = d.grid;
        l.dispatch_threads_per_threadgroup = t;
        l.thread_index_in_threadgroup = n;
        l.thread_index_in_simdgroup = n & 31;
        l.simdgroup_index_in_threadgroup = n >> 5;
        l.threads_per_simdgroup = 32;
        l.quadgroup_index_in_threadgroup = n >> 2;
        l.thread_index_in_quadgroup = n & 3;
      }
  w->n = n;
  w->started = w->done = 0;
  w->rh = w->rt = 0;
  w->tg_arrived = 0;
  w->tg_used = 0;
  int nsg = (n + 31) / 32;
  for (int i = 0; i < n; i++) {
    w->lane[i].simdgroups_per_threadgroup = nsg;
    w->compute[i] = 0;
  }
  for (int i = 0; i < nsg; i++) {
    SG& s = w->sg[i];
    s.gen = 0;
    s.arrived = 0;
    int c = std::min(32, n - i * 32);
    s.alive = c == 32 ? ~0u : (1u << c) - 1;
  }
  for (int i = 0; i < n; i++) w->perm[i] = w->o->order == Order::reverse ? n - 1 - i : i;
  if (w->o->order == Order::random)
    for (int i = n - 1; i > 0; i--) std::swap(w->perm[i], w->perm[w->rand() % (i + 1)]);
  memset(w->tg_id, 0, sizeof w->tg_id);
  if (w->chk.on) w->chk.group_start(w->tgmem, sizeof w->tgmem);
  for (unsigned i = 0; i < d.kernel->nargs; i++)
    if (d.kernel->args[i].kind == MTL_ARG_THREADGROUP) {
      unsigned ix = d.kernel->args[i].index;
      w->tgptr[ix] = w->tgmem + w->tg_used;
      memset(w->tgptr[ix], 0xff, d.threadgroup_bytes[ix]);
      if (w->chk.on) w->chk.threadgroup_region(w->tgptr[ix], d.threadgroup_bytes[ix]);
      w->tg_used += (d.threadgroup_bytes[ix] + 15) & ~15u;
    }
  w->idle.clear();
  for (int i = MAXT - 1; i >= 0; i--) w->idle.push_back(&w->fibers[i]);
  Fiber* f = w->idle.back();
  w->idle.pop_back();
  f->sp = fresh_stack(f->top, fiber_main);
  w->mine = f;
  mtl_switch(&w->sched_sp, f->sp);
  w->st.threads += n;
  w->st.threadgroup_bytes = std::max<uint64_t>(w->st.threadgroup_bytes, w->tg_used);
}
}  // namespace

bool in_kernel() { return W && W->cur >= 0; }
Checker* current_checker(int* lane) {
  if (!W || !W->chk.on) return nullptr;
  *lane = W->cur;
  return &W->chk;
}
void kernel_fault(const std::string& s) { leave(s + " by " + at(W->cur)); }

namespace {

// What Metal's own validation would refuse before anything runs; "" when the dispatch is sound.
std::string refused(const Dispatch& d) {
  const std::string name = d.kernel->name;
  const uint64_t threads = uint64_t{d.threadgroup.x} * d.threadgroup.y * d.threadgroup.z;
  const unsigned own = d.kernel->max_threads;
  const unsigned limit = d.max_threads && (!own || d.max_threads < own) ? d.max_threads : own ? own : kSafeThreads;
  if (threads == 0 || threads > limit)
    return name + ": " + std::to_string(threads) + " threads per threadgroup, the limit is " + std::to_string(limit);
  size_t memory = 0;
  for (unsigned i = 0; i < d.kernel->nargs; i++) {
    const mtl_arg_desc& a = d.kernel->args[i];
    const std::string argument = name + ": argument '" + a.name + "' ";
    const size_t bytes = d.buffer_bytes[a.index];
    if (a.kind == MTL_ARG_BUFFER && !d.buffer[a.index] && !*a.cond)
      return argument + "[[buffer(" + std::to_string(a.index) + ")]] is not bound";
    if (a.kind == MTL_ARG_BUFFER && a.is_ref && bytes && bytes < a.size)
      return argument + "needs " + std::to_string(a.size) + " bytes, " + std::to_string(bytes) + " are bound";
    if (a.kind != MTL_ARG_THREADGROUP) continue;
    if (!d.threadgroup_bytes[a.index]) return argument + "has no threadgroup memory length";
    memory += d.threadgroup_bytes[a.index];
  }
  if (memory > kThreadgroupBytes) return name + ": threadgroup memory exceeds 32 KiB";
  return "";
}

void prepare_worker(Worker* w, const Dispatch& d, uint64_t seed) {
  w->d = &d;
  w->o = &options();
  w->fault.clear();
  w->st = Work();
  w->rng = seed * 0x9E3779B97F4A7C15ull + 1;
  if (!w->stacks) w->init_stacks();
  w->args.buf = d.buffer;
  w->args.tg = w->tgptr;
  w->chk.on = w->o->check;
  if (w->chk.on) w->chk.begin(d);
}

std::vector<std::unique_ptr<Worker>>& workers() {
  static auto* all = new std::vector<std::unique_ptr<Worker>>;
  return *all;
}

}  // namespace

const AccessSet& last_accesses() { return workers().front()->chk.accesses; }

std::string run(const Dispatch& d, Work* work) {
  if (!d.kernel) return "no kernel";
  if (const std::string why = refused(d); !why.empty()) return why;
  const auto groups = [](unsigned threads, unsigned size) { return (threads + size - 1) / size; };
  const mtl_u3 ng{groups(d.grid.x, d.threadgroup.x), groups(d.grid.y, d.threadgroup.y),
                  groups(d.grid.z, d.threadgroup.z)};
  const uint64_t total = uint64_t{ng.x} * ng.y * ng.z;
  // The checker sees one dispatch in one order; parallel threadgroups would only hide which of them raced.
  const size_t count =
      std::clamp<size_t>(options().check ? 1 : static_cast<size_t>(options().workers), 1, total ? total : 1);
  while (workers().size() < count) workers().push_back(std::make_unique<Worker>());

  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false};
  const auto body = [&](size_t id) {
    Worker* w = W = workers()[id].get();
    prepare_worker(w, d, options().seed + id);
    for (uint64_t i = next++; i < total && !stop; i = next++) {
      const uint64_t j = options().order == Order::reverse ? total - 1 - i : i;
      run_group(w,
                {static_cast<unsigned>(j % ng.x), static_cast<unsigned>(j / ng.x % ng.y),
                 static_cast<unsigned>(j / ng.x / ng.y)},
                ng);
      if (!w->fault.empty()) stop = true;
    }
    W = nullptr;
  };
  std::vector<std::thread> threads;
  for (size_t id = 1; id < count; id++) threads.emplace_back(body, id);
  body(0);
  for (std::thread& thread : threads) thread.join();

  std::string fault;
  for (size_t id = 0; id < count; id++) {
    Worker& w = *workers()[id];
    if (!w.fault.empty() && fault.empty()) fault = std::string(d.kernel->name) + ": " + w.fault;
    if (!work) continue;
    work->threads += w.st.threads;
    work->switches += w.st.switches;
    work->barriers += w.st.barriers;
    work->simd_operations += w.st.simd_operations;
    work->matrix_operations += w.st.matrix_operations;
    work->threadgroup_bytes = std::max(work->threadgroup_bytes, w.st.threadgroup_bytes);
    work->bank_conflicts += w.chk.banks.finish();
  }
  return fault;
}
}  // namespace standin

using namespace standin;
extern "C" {
#define VISIBLE __attribute__((visibility("default")))
VISIBLE void* mtl_simd_slots(void) {
  SG& s = W->sg[W->cur >> 5];
  return s.slots[s.gen & 1];
}
VISIBLE unsigned mtl_simd_lane(void) { return W->cur & 31; }
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
