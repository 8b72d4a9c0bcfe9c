#if defined(__x86_64__)

#include "cpu/simd/vector_kernels.h"
#include "cpu/simd/vector_sse42.h"

namespace longhand::cpu {

extern const Kernels sse42_kernels;
constinit const Kernels sse42_kernels = vector_kernels<Sse42>("sse4.2");

}  // namespace longhand::cpu

#endif
