#if defined(__aarch64__)

#include "cpu/vector_kernels.h"
#include "cpu/vector_neon.h"

namespace longhand::cpu {

extern const Kernels neon_kernels;
constinit const Kernels neon_kernels = vector_kernels<Neon>("neon");

}  // namespace longhand::cpu

#endif
