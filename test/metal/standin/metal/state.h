// What the stand-in measures and what it is told to break. Plain C++: read by the tests' addon.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor.h"

namespace standin {

// A use of the API that Apple's validation layer would stop: the message says which rule was broken.
struct Misuse : std::logic_error {
  using std::logic_error::logic_error;
};
[[noreturn]] void misuse(const std::string& what);

struct Bytes {
  uint64_t read = 0, written = 0;
};
// Since the last reset. Bytes are unique bytes a dispatch, by class of buffer (the first word of its label), and
// measured in check mode only.
struct Counters {
  uint64_t dispatches = 0, barriers = 0, command_buffers = 0, waits = 0, archive_hits = 0, archive_misses = 0,
           pipelines = 0, libraries_read = 0;
  uint64_t held_compiles = 0;  // libraries that wait for Faults::hold_compile, now
  int in_flight = 0, most_in_flight = 0;
  uint64_t allocated = 0, heap_bytes = 0, resident = 0, queues = 0;  // now, not since a reset
  Work work;
  std::map<std::string, Bytes> bytes;
  std::map<std::string, uint64_t> kernels;         // dispatches by function
  std::map<std::string, uint64_t> threadgroups;    // of all of them
  std::map<std::string, uint64_t> bank_conflicts;  // by function, where there are any
};

// Faults to inject; all off by default.
struct Faults {
  bool no_device = false;
  uint64_t memory_limit = 0;      // allocations above this many bytes in all fail; 0: 16 GiB
  uint64_t max_buffer = 0;        // maxBufferLength; 0: 16 GiB
  std::string device_name;        // "": Stand-in GPU
  int family = 0;                 // the newest MTLGPUFamily it is of; 0: Apple8
  std::string compile_error;      // a library whose source contains this text does not compile
  std::string hold_compile;       // a library whose source contains this text is not compiled until this changes
  int command_buffer = 0;         // the n-th command buffer from now (1 = next) ends with an error
  int command_buffer_code = 1;    // MTLCommandBufferError: 1 internal, 2 timeout, 8 out of memory
  std::string spoil_kernel;       // after every run of this kernel ...
  int spoil_argument = 0;         // ... the word at this argument is one too large
  unsigned pipeline_threads = 0;  // maxTotalThreadsPerThreadgroup of every pipeline; 0: what the kernel says
};

// What the GPU's clock says. With costs, a dispatch takes what the first rule whose words are all in its description
// says ("linear_vec 0=1.0.0.0. 1=0. threads=64": function constants by their bytes), 1000 ns without a rule; without
// costs, the time it really took.
struct Clock {
  std::vector<std::pair<std::vector<std::string>, uint64_t>> costs;
  uint64_t worked = 0;  // ns, by costs
  bool broken = false;  // the device gives no samples
};
uint64_t gpu_nanoseconds();
void gpu_worked(const std::string& description);

struct State {
  std::mutex lock;
  std::condition_variable changed;  // the faults
  Counters counters;
  Faults faults;
  Clock clock;
};
State& state();

}  // namespace standin
