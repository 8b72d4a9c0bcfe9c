// Runs a compiled kernel over a grid on the CPU: one fibre per thread of a threadgroup, one system thread per
// threadgroup in flight. Everything a GPU leaves undefined is a fault here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "executor/abi.h"

namespace standin {

inline constexpr int kBufferSlots = 31;
inline constexpr uint32_t kThreadgroupBytes = 32768;  // Apple7 and later
inline constexpr int kMaxThreads = 1024;
// What an M1 allows a kernel that was not compiled for a number of threads, when it wants many registers.
inline constexpr int kSafeThreads = 384;

struct Dispatch {
  const mtl_kernel_desc* kernel = nullptr;
  unsigned max_threads = 0;  // that its pipeline was made for; 0: what the kernel says
  mtl_u3 grid{1, 1, 1};      // in threads
  mtl_u3 threadgroup{1, 1, 1};
  bool whole_threadgroups = false;  // dispatchThreadgroups: no partial ones
  void* buffer[kBufferSlots] = {};
  size_t buffer_bytes[kBufferSlots] = {};       // from buffer[i] to the end of its buffer (0: unknown)
  const char* buffer_label[kBufferSlots] = {};  // labels of MTLBuffers, the classes of the byte counters
  uint32_t threadgroup_bytes[kBufferSlots] = {};
};

// In which order the threads of a threadgroup start and wake. A correct kernel gives the same bits in all of them.
enum class Order : uint8_t { forward, reverse, random };

struct Options {
  int workers = 1;
  Order order = Order::forward;
  uint64_t seed = 1;
  bool check = false;  // kernels compiled with access hooks: races, bounds, uninitialised reads
  bool banks = false;  // with `check`: conflicts of threadgroup memory's banks are counted
  bool dry = false;    // dispatches are counted and not run: what a large pass costs
  size_t stack_bytes = 64 << 10;
};
Options& options();

struct Work {
  uint64_t threads = 0, switches = 0, barriers = 0, simd_operations = 0, matrix_operations = 0, threadgroup_bytes = 0,
           bank_conflicts = 0;
};

class AccessSet;
// What the last checked dispatch read and wrote.
const AccessSet& last_accesses();
// "" or the description of the fault.
std::string run(const Dispatch& dispatch, Work* work = nullptr);

}  // namespace standin
