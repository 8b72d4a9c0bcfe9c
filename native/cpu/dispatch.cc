// Which inner loops this processor can run.
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cpu/kernels.h"
#include "cpu/scalar.h"
#include "ops/backend.h"

namespace longhand::cpu {

#if defined(__x86_64__)
extern const Kernels avx2_kernels, avxvnni_kernels, avx512_kernels;
#elif defined(__aarch64__)
extern const Kernels neon_kernels;
#endif

constinit const Kernels scalar_kernels = {.name = "scalar",
                                          .dot = scalar::dot,
                                          .add_scaled = scalar::add_scaled,
                                          .rms_norm = scalar::rms_norm,
                                          .silu = scalar::silu,
                                          .multiply_silu = scalar::multiply_silu,
                                          .multiply_sigmoid = scalar::multiply_sigmoid,
                                          .largest = scalar::largest,
                                          .sum_exp = scalar::sum_exp,
                                          .softmax = scalar::softmax,
                                          .convolve = scalar::convolve,
                                          .from_f16 = scalar::from_f16,
                                          .from_bf16 = scalar::from_bf16,
                                          .two_level = scalar::two_level,
                                          .unpack = scalar::unpack,
                                          .quantise = scalar::quantise,
                                          .panel_fast = scalar::panel_fast,
                                          .panel_exact = scalar::panel_exact,
                                          .rows_f32 = scalar::rows_f32,
                                          .rows_f16 = scalar::rows_f16,
                                          .rows_bf16 = scalar::rows_bf16,
                                          .attend = scalar::attend,
                                          .delta = scalar::delta,
                                          .gla = scalar::gla};

namespace {

#if defined(__x86_64__)
// __builtin_cpu_supports of older compilers does not know it: CPUID leaf 7, subleaf 1, EAX bit 4.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}
#endif

std::vector<const Kernels*> detect() {
  std::vector<const Kernels*> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vnni");
  if (avx512) found.push_back(&avx512_kernels);
  if (avx2 && has_avx_vnni()) found.push_back(&avxvnni_kernels);
  if (avx2) found.push_back(&avx2_kernels);
#elif defined(__aarch64__)
  found.push_back(&neon_kernels);
#endif
  found.push_back(&scalar_kernels);
  return found;
}

}  // namespace

std::span<const Kernels* const> available_kernels() {
  static const std::vector<const Kernels*> kernels = detect();
  return kernels;
}

}  // namespace longhand::cpu

namespace longhand {

std::vector<std::string> cpu_instructions() {
  std::vector<std::string> names;
  for (const cpu::Kernels* kernels : cpu::available_kernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace longhand
