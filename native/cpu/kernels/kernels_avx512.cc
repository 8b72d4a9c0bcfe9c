#if defined(__x86_64__)

#include "cpu/simd/vector_avx512.h"
#include "cpu/simd/vector_kernels.h"

namespace longhand::cpu {

extern const Kernels avx512_kernels;
constinit const Kernels avx512_kernels = vector_kernels<Avx512>("avx512");

}  // namespace longhand::cpu

#endif
