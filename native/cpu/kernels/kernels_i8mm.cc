#if defined(__aarch64__)

#include "cpu/simd/vector_i8mm.h"
#include "cpu/simd/vector_kernels.h"

namespace longhand::cpu {

extern const Kernels i8mm_kernels;
constinit const Kernels i8mm_kernels = vector_kernels<I8mm>("i8mm");

}  // namespace longhand::cpu

#endif
