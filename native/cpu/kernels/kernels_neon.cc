#if defined(__aarch64__)

#include "cpu/simd/vector_kernels.h"
#include "cpu/simd/vector_neon.h"

namespace longhand::cpu {

extern const Kernels neon_kernels;
constinit const Kernels neon_kernels = vector_kernels<Neon>("neon");

}  // namespace longhand::cpu

#endif
