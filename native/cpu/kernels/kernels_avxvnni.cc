#if defined(__x86_64__)

#include "cpu/simd/vector_avx2.h"
#include "cpu/simd/vector_kernels.h"

namespace longhand::cpu {

extern const Kernels avxvnni_kernels;
constinit const Kernels avxvnni_kernels = vector_kernels<Avx2>("avxvnni");

}  // namespace longhand::cpu

#endif
