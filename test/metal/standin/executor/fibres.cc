// Who runs next: the threads of a threadgroup as fibres, in the order that was chosen.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "executor/worker.h"

namespace standin {

constinit thread_local Worker* W = nullptr;

void leave(const std::string& what) {
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

namespace {
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
}  // namespace

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

namespace {
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
}  // namespace

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
  w->idle.resize(n);
  for (int i = 0; i < n; i++) w->idle[n - 1 - i] = &w->fibers[i];
  Fiber* f = w->idle.back();
  w->idle.pop_back();
  f->sp = fresh_stack(f->top, fiber_main);
  w->mine = f;
  mtl_switch(&w->sched_sp, f->sp);
  w->st.threads += n;
  w->st.threadgroup_bytes = std::max<uint64_t>(w->st.threadgroup_bytes, w->tg_used);
}

bool in_kernel() { return W && W->cur >= 0; }
Checker* current_checker(int* lane) {
  if (!W || !W->chk.on) return nullptr;
  *lane = W->cur;
  return &W->chk;
}
void kernel_fault(const std::string& s) { leave(s + " by " + at(W->cur)); }

}  // namespace standin
