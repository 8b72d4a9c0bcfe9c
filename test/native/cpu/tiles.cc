// The products in tile registers against their scalar models, bit for bit: with LONGHAND_AMX on the registers of this
// processor, without on an emulation of them. Around the tiles stand the vectors that the compiler was told of.
#include <cstdio>
#include <string>
#include <vector>

#include "cpu/kernels/scalar.h"
#include "cpu/weights/packed_weights.h"
#include "small_model.h"

#if defined(LONGHAND_AMX)
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu/simd/vector_amx.h"
using Tiles = Amx;
#else
#include "emulated_tiles.h"
using Tiles = EmulatedTiles;
#endif

#if defined(__AVX512VNNI__)
#include "cpu/simd/vector_avx512.h"
using Vector = Avx512;
#else
#include "cpu/simd/vector_sse42.h"
using Vector = Sse42;
#endif

namespace longhand {
namespace {

using testing::Random;

int wrong = 0;

void expect_same(const std::string& what, const std::vector<float>& a, const std::vector<float>& b) {
  if (std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0) return;
  std::printf("[tiles] %s: not the bits of the scalar model\n", what.c_str());
  ++wrong;
}

std::vector<float> numbers(size_t count, uint32_t seed, float limit) {
  Random random(seed);
  std::vector<float> out(count);
  for (float& x : out) x = random.between(-limit, limit);
  return out;
}

struct Form {
  int bits;
  bool biased;
  int64_t group;
  int zero;
};

// Codes of fewer than eight bits are taken as packed. Rows of activations lie further apart than they are long, as when
// a chunk of columns of a matrix is multiplied.
void panels(const Form& form, int count, int64_t tokens, int64_t blocks) {
  const int64_t all = blocks * cpu::block_columns, stride = all + cpu::block_columns, groups = all / form.group;
  const int64_t code_stride = blocks * form.bits * cpu::quad_bytes;
  Random random(1);
  std::vector<uint8_t> codes(static_cast<size_t>(2 * code_stride) + 4096);  // kernels fetch ahead
  for (uint8_t& code : codes) code = static_cast<uint8_t>(random.bits());
  const std::vector<float> x = numbers(static_cast<size_t>(tokens * stride), 2, 2.0f);
  std::vector<int8_t> x_codes(2 * x.size());
  std::vector<float> x_scales(x.size() / 32);
  std::vector<int32_t> x_sums(x.size() / 16);
  for (int64_t t = 0; t < tokens; ++t) {
    int8_t* high = x_codes.data() + 2 * t * stride;
    cpu::scalar::quantise(x.data() + t * stride, stride, high, high + stride, x_scales.data() + t * stride / 32,
                          x_sums.data() + t * stride / 16);
  }
  const std::vector<float> scales = numbers(static_cast<size_t>(2 * groups * 16), 3, 0.01f);
  const std::vector<float> biases = numbers(scales.size(), 4, 0.01f);
  cpu::PanelTile tile{.codes = codes.data(),
                      .bits = form.bits,
                      .scales = scales.data(),
                      .biases = form.biased ? biases.data() : nullptr,
                      .panels = count,
                      .code_stride = code_stride,
                      .scale_stride = groups * 16,
                      .blocks = blocks,
                      .group = form.group,
                      .zero = form.zero,
                      .wide = form.bits == 8,
                      .tokens = tokens,
                      .x_codes = x_codes.data(),
                      .x_scales = x_scales.data(),
                      .x_code_sums = x_sums.data(),
                      .x_stride = stride,
                      .scale_step = stride / 32,
                      .sum_step = stride / 16};
  const cpu::PackedScales packed{.kind = cpu::ScaleKind::f32,
                                 .scales = reinterpret_cast<const std::byte*>(scales.data()),
                                 .biases = reinterpret_cast<const std::byte*>(tile.biases),
                                 .integers = nullptr,
                                 .minima = nullptr,
                                 .super_shift = 0,
                                 .global = 1.0f};
  if (form.bits < 8) tile.packed = &packed;
  std::vector<float> actual(static_cast<size_t>(tokens * count * 16), 0.25f), expected(actual);
  tile.sums = actual.data();
  panel_tiles<Tiles, Vector>(tile, cpu::scalar::panel_fast);
  tile.sums = expected.data();
  cpu::scalar::panel_fast(tile);
  expect_same(std::to_string(form.bits) + " bits, groups of " + std::to_string(form.group) + ", " +
                  std::to_string(count) + " panels, " + std::to_string(tokens) + " tokens, " + std::to_string(blocks) +
                  " blocks",
              actual, expected);
}

// Weights and activations end where a page could: nothing behind them may be read as a number.
void rows(int64_t count, int64_t tokens, int64_t in) {
  Random random(5);
  const auto halves = [&](int64_t size) {
    std::vector<uint16_t> out(static_cast<size_t>(size) + 64, 0x7fc0);  // NaN behind the end
    for (int64_t i = 0; i < size; ++i) {
      const uint32_t bits = random.bits();
      out[static_cast<size_t>(i)] = static_cast<uint16_t>(bits % 61 == 0   ? bits & 0x807f  // subnormal
                                                          : bits % 67 == 0 ? 0x0080 | (bits & 0x807f)
                                                                           : 0x3c00 | (bits & 0x83ff));
    }
    return out;
  };
  const std::vector<uint16_t> weights = halves(count * in), x = halves(tokens * in);
  const int64_t stride = count + 3;
  std::vector<float> actual(static_cast<size_t>(tokens * stride), 7.0f), expected(actual);
  const auto* at = reinterpret_cast<const std::byte*>(weights.data());
  row_tiles<Tiles>({at, count, in, x.data(), tokens, actual.data(), stride});
  cpu::scalar::rows_bf16_tiles({at, count, in, x.data(), tokens, expected.data(), stride});
  expect_same(
      std::to_string(count) + " rows of " + std::to_string(in) + " bf16 by " + std::to_string(tokens) + " tokens",
      actual, expected);
}

}  // namespace
}  // namespace longhand

int main() {
  using namespace longhand;
#if defined(LONGHAND_AMX)
  if (syscall(SYS_arch_prctl, 0x1023, 18) != 0) {
    std::printf("[tiles] not permitted\n");
    return 2;
  }
#endif
  const Form forms[] = {{8, false, 32, 128}, {8, true, 64, 0}, {8, true, 128, 0}, {8, false, 16, 32}, {8, true, 16, 0}};
  for (const Form& form : forms)
    for (const int count : {1, 2})
      for (const int64_t tokens : {1, 8, 16, 31, 80})
        for (const int64_t blocks : {4, 10}) panels(form, count, tokens, blocks);
  panels({4, true, 32, 0}, 1, 16, 4);
  for (const int64_t count : {1, 50, 300})
    for (const int64_t tokens : {1, 17, 40})
      for (const int64_t in : {31, 64, 544}) rows(count, tokens, in);
  rows(40, 35, 1100);
  if (wrong == 0) std::printf("bit for bit\n");
  return wrong == 0 ? 0 : 1;
}
