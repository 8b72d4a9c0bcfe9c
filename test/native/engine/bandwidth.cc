// Measures the bandwidth of memory where the system refuses every thread after the first few.
//   bandwidth THREADS
#include "engine/machine/bandwidth.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>

static int allowed = 0;

// In front of the library's own.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* with) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (allowed-- <= 0) return EAGAIN;
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, with);
}

int main(int, char** arguments) {
  allowed = std::atoi(arguments[1]);
  std::printf("%.0f\n", longhand::memory_bandwidth());
  return 0;
}
