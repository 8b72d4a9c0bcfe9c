#if defined(__x86_64__)

#include "cpu/simd/vector_avx2.h"
#include "cpu/simd/vector_kernels.h"

namespace longhand::cpu {

extern const Kernels avx2_kernels;
constinit const Kernels avx2_kernels = vector_kernels<Avx2>("avx2");

}  // namespace longhand::cpu

#endif
