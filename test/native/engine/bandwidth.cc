// Measures the bandwidth of memory where the system refuses every thread after the first few, on a machine that has so
// many bytes left.
//   bandwidth THREADS BYTES
#include "engine/machine/bandwidth.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>

#include "engine/machine/available_memory.h"

static int allowed = 0;
static uint64_t left_over = 0;

namespace longhand {
uint64_t available_memory() { return left_over; }
}  // namespace longhand

// In front of the library's own.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* with) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (allowed-- <= 0) return EAGAIN;
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, with);
}

int main(int, char** arguments) {
  allowed = std::atoi(arguments[1]);
  left_over = std::strtoull(arguments[2], nullptr, 10);
  std::printf("%.0f\n", longhand::memory_bandwidth());
  return 0;
}
