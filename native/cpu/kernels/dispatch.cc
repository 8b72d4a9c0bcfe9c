// Which inner loops this processor can run. A build with LONGHAND_PORTABLE has the scalar ones only, as for a processor
// that is not known here.
#if defined(LONGHAND_PORTABLE)
#elif defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/scalar.h"
#include "ops/backend.h"

namespace longhand::cpu {

#if defined(__x86_64__)
extern const Kernels sse42_kernels, avx2_kernels, avxvnni_kernels, avx512_kernels;
void avx512bf16_round(const float* x, int64_t n, uint16_t* to);
void avx512bf16_rows(const RoundedRowTile& tile);
void avx512bf16_attend_whole(const RoundedAttentionTile& tile);
void avx512bf16_attend_causal(const RoundedCausalTile& tile);
void avx512bf16_pair_columns(const uint16_t* rows, int64_t width, uint32_t* to);
void avx512bf16_turn_values(const uint16_t* rows, int64_t width, uint16_t* to);
void amx_rows(const RoundedRowTile& tile);
void amx_decode(const DecodeTile& tile);
void amx_multiply(const DecodedTile& tile);
void amx_pair_columns(const uint16_t* rows, int64_t width, uint32_t* to);
void amx_turn_values(const uint16_t* rows, int64_t width, uint16_t* to);
void amx_attend_causal(const RoundedCausalTile& tile);
#elif defined(__aarch64__)
extern const Kernels neon_kernels, i8mm_kernels;
#endif

constinit const Kernels scalar_kernels = {.name = "scalar",
                                          .dot = scalar::dot,
                                          .add_scaled = scalar::add_scaled,
                                          .rms_norm = scalar::rms_norm,
                                          .silu = scalar::silu,
                                          .multiply_silu = scalar::multiply_silu,
                                          .multiply_sigmoid = scalar::multiply_sigmoid,
                                          .gelu_erf = scalar::gelu_erf,
                                          .gelu_tanh = scalar::gelu_tanh,
                                          .largest = scalar::largest,
                                          .sum_exp = scalar::sum_exp,
                                          .softmax = scalar::softmax,
                                          .convolve = scalar::convolve,
                                          .from_f16 = scalar::from_f16,
                                          .to_f16 = scalar::to_f16,
                                          .from_bf16 = scalar::from_bf16,
                                          .two_level = scalar::two_level,
                                          .unpack = scalar::unpack,
                                          .quantise = scalar::quantise,
                                          .panel_fast = scalar::panel_fast,
                                          .packed_tokens = most_packed_tokens,
                                          .panel_exact = scalar::panel_exact,
                                          .rows_f32 = scalar::rows_f32,
                                          .rows_f16 = scalar::rows_f16,
                                          .rows_bf16 = scalar::rows_bf16,
                                          .round_bf16 = scalar::round_bf16,
                                          .rows_bf16_rounded = scalar::rows_bf16_rounded,
                                          .attend_whole_rounded = scalar::attend_whole_rounded,
                                          .pair_columns = scalar::pair_columns,
                                          .turn_values = scalar::turn_values,
                                          .attend_causal_rounded = scalar::attend_causal_pairs,
                                          .attend = scalar::attend,
                                          .attend_whole = scalar::attend_whole,
                                          .delta = scalar::delta,
                                          .gla = scalar::gla};

namespace {

#if defined(LONGHAND_PORTABLE)
std::vector<const Kernels*> vector_sets() { return {}; }
#elif defined(__x86_64__)
// __builtin_cpu_supports of older compilers does not know these: CPUID leaf 7, subleaf 1, bits of EAX.
bool has_feature(unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> bit & 1);
}
constexpr unsigned avx_vnni = 4, avx512_bf16 = 5;

const Kernels& avx512bf16_kernels() {
  static const Kernels kernels = [] {
    Kernels more = avx512_kernels;
    more.name = "avx512bf16";
    more.round_bf16 = avx512bf16_round;
    more.rows_bf16_rounded = avx512bf16_rows;
    more.attend_whole_rounded = avx512bf16_attend_whole;
    more.pair_columns = avx512bf16_pair_columns;
    more.turn_values = avx512bf16_turn_values;
    more.attend_causal_rounded = avx512bf16_attend_causal;
    return more;
  }();
  return kernels;
}

// Tile registers: 8 KB a thread, which Linux gives to a process that asks (arch/x86: ARCH_GET_XCOMP_SUPP tells what
// there is, ARCH_REQ_XCOMP_PERM asks; 18 is the tiles' data). No other system is known to provide them.
#if defined(__linux__)
constexpr int tile_data = 18;
bool has_tiles() {
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24, all = bf16 | tiles;
  unsigned a = 0, b = 0, c = 0, d = 0;
  uint64_t given = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & all) == all && syscall(SYS_arch_prctl, 0x1021, &given) == 0 &&
         (given >> tile_data & 1);
}
bool tiles_permitted() { return syscall(SYS_arch_prctl, 0x1023, tile_data) == 0; }
#else
bool has_tiles() { return false; }
bool tiles_permitted() { return false; }
#endif

const Kernels& amx_kernels() {
  static const Kernels kernels = [] {
    Kernels more = avx512_kernels;
    more.name = "amx";
    more.rounds_when_reading = true;
    more.round_bf16 = avx512bf16_round;
    more.rows_bf16_rounded = amx_rows;
    more.decode_bf16 = amx_decode;
    more.multiply_decoded = amx_multiply;
    more.pair_columns = amx_pair_columns;
    more.turn_values = amx_turn_values;
    more.attend_causal_rounded = amx_attend_causal;
    more.permitted = tiles_permitted;
    return more;
  }();
  return kernels;
}

std::vector<const Kernels*> vector_sets() {
  std::vector<const Kernels*> found;
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vnni");
  const bool bf16 = avx512 && has_feature(avx512_bf16);
  // AMD's processors multiply bf16 at twice the rate of floats (Zen 5: both prefill and decode faster), Intel's at the
  // same rate (Sapphire Rapids: prefill 0.88 times as fast); test/bench/LEDGER.md.
  const bool bf16_first = bf16 && __builtin_cpu_is("amd");
  if (bf16 && has_tiles()) found.push_back(&amx_kernels());
  if (bf16_first) found.push_back(&avx512bf16_kernels());
  if (avx512) found.push_back(&avx512_kernels);
  if (bf16 && !bf16_first) found.push_back(&avx512bf16_kernels());
  if (avx2 && has_feature(avx_vnni)) found.push_back(&avxvnni_kernels);
  if (avx2) found.push_back(&avx2_kernels);
  if (__builtin_cpu_supports("sse4.2")) found.push_back(&sse42_kernels);
  return found;
}
#elif defined(__aarch64__)
// Bits of AT_HWCAP and AT_HWCAP2 (Linux, arch/arm64/include/uapi/asm/hwcap.h).
struct Features {
  bool dot_products, matrix_products;
};
Features features() {
#if defined(__linux__)
  return {(getauxval(AT_HWCAP) >> 20 & 1) != 0, (getauxval(AT_HWCAP2) >> 13 & 1) != 0};
#else
  int matrix = 0;
  size_t bytes = sizeof matrix;
  sysctlbyname("hw.optional.arm.FEAT_I8MM", &matrix, &bytes, nullptr, 0);
  return {true, matrix != 0};  // every Apple chip has the dot products
#endif
}

std::vector<const Kernels*> vector_sets() {
  std::vector<const Kernels*> found;
  const Features has = features();
  if (has.dot_products && has.matrix_products) found.push_back(&i8mm_kernels);
  if (has.dot_products) found.push_back(&neon_kernels);
  return found;
}
#else
std::vector<const Kernels*> vector_sets() { return {}; }
#endif

// What a set with tiles computes, for processors without them: never chosen by itself.
const Kernels& tile_model() {
  static const Kernels kernels = [] {
    Kernels more = scalar_kernels;
    more.name = "scalar-tiles";
    more.rounds_when_reading = true;
    more.rows_bf16_rounded = scalar::rows_bf16_tiles;
    more.decode_bf16 = scalar::decode_bf16;
    more.multiply_decoded = scalar::multiply_decoded;
    more.attend_causal_rounded = scalar::attend_causal_tiles;
    return more;
  }();
  return kernels;
}

std::vector<const Kernels*> detect() {
  std::vector<const Kernels*> found = vector_sets();
  found.push_back(&tile_model());
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
