// One system thread of the executor: the threadgroup it runs, its fibres, and where each of them waits.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <string>
#include <vector>

#include "executor/checker.h"
#include "executor/executor.h"
#include "executor/fibre.h"

namespace standin {

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
// Of the calling system thread; null outside of a kernel.
extern constinit thread_local Worker* W;

// Stops the kernel: the dispatch returns what is said.
[[noreturn]] void leave(const std::string& what);
// "thread 3 of threadgroup (0,1,0)"
std::string at(int lane);
// Waits until another thread of the threadgroup wakes this one.
void block(Worker* w, Where why, int line);
void run_group(Worker* w, mtl_u3 g, mtl_u3 ngroups);

}  // namespace standin
