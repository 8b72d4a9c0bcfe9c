// The products in tile registers against their scalar models, bit for bit: with LONGHAND_AMX on the registers of this
// processor, without on an emulation of them. What needs vectors beside the tiles is compared where the compiler was
// told of AVX512-BF16.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "cpu/kernels/scalar.h"
#include "cpu/weights/packed_weights.h"
#include "small_model.h"

#if defined(LONGHAND_AMX)
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu/simd/tiles/vector_amx.h"
using Tiles = Amx;
#else
#include "emulated_tiles.h"
using Tiles = EmulatedTiles;
#endif

#if defined(__AVX512BF16__)
#include "cpu/simd/decode_bf16.h"
#include "cpu/simd/tiles/tile_products.h"
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
  const uint8_t* table = nullptr;
};

// Some subnormal, some hardly not, the others around one.
std::vector<uint16_t> halves(int64_t size, uint32_t seed) {
  Random random(seed);
  std::vector<uint16_t> out(static_cast<size_t>(size) + 64, 0x7fc0);  // NaN behind the end
  for (int64_t i = 0; i < size; ++i) {
    const uint32_t bits = random.bits();
    out[static_cast<size_t>(i)] = static_cast<uint16_t>(bits % 61 == 0   ? bits & 0x807f
                                                        : bits % 67 == 0 ? 0x0080 | (bits & 0x807f)
                                                                         : 0x3c00 | (bits & 0x83ff));
  }
  return out;
}

#if defined(__AVX512BF16__)
void decode(const Form& form, int64_t blocks) {
  Random random(1);
  std::vector<uint8_t> codes(static_cast<size_t>(blocks * form.bits * cpu::quad_bytes) + 4096);  // kernels fetch ahead
  for (uint8_t& code : codes) code = static_cast<uint8_t>(random.bits());
  const int64_t groups = (blocks * cpu::block_columns + form.group - 1) / form.group;
  const std::vector<float> scales = numbers(static_cast<size_t>(groups * 16), 3, 0.01f);
  const std::vector<float> biases = numbers(scales.size(), 4, 0.01f);
  std::vector<uint16_t> actual(static_cast<size_t>(blocks * cpu::decoded_block), 7), expected(actual);
  cpu::DecodeTile tile{codes.data(), form.bits,     form.table,
                       form.zero,    scales.data(), form.biased ? biases.data() : nullptr,
                       form.group,   blocks,        actual.data()};
  decode_panel(tile, cpu::scalar::unpack);
  tile.to = expected.data();
  cpu::scalar::decode_bf16(tile);
  if (actual == expected) return;
  std::printf("[tiles] %d bits, groups of %d, decoded: not the numbers of the scalar model\n", form.bits,
              static_cast<int>(form.group));
  ++wrong;
}

// Rows that see more and more keys, the last ones all, in two steps of which the second ends the softmax.
void attend(int64_t width, int64_t count, int64_t second) {
  const int64_t all = count + second, room = (all + 127) / 64 * 64;
  const auto rounded = [](const std::vector<float>& from) {
    std::vector<uint16_t> to(from.size());
    cpu::scalar::round_bf16(from.data(), static_cast<int64_t>(from.size()), to.data());
    return to;
  };
  const auto of = [&](int64_t size, uint32_t seed) { return rounded(numbers(static_cast<size_t>(size), seed, 2.0f)); };
  const std::vector<uint16_t> rows = of(cpu::rounded_rows * width, 7), keys = of(2 * room * width, 8);
  std::vector<uint16_t> values = of(2 * room * width, 9);
  std::vector<uint32_t> q(static_cast<size_t>(width / 2 * cpu::rounded_rows));
  pair_columns(rows.data(), width, q.data());
  std::vector<uint32_t> model(q.size());
  cpu::scalar::pair_columns(rows.data(), width, model.data());
  std::vector<uint16_t> turned(static_cast<size_t>(cpu::turned_keys * width)), model_turned(turned.size());
  turn_values(values.data(), width, turned.data());
  cpu::scalar::turn_values(values.data(), width, model_turned.data());
  if (q != model || turned != model_turned) {
    std::printf("[tiles] rows of %d numbers: not turned as the scalar model does\n", static_cast<int>(width));
    ++wrong;
  }
  int32_t limits[cpu::rounded_rows];
  for (int64_t r = 0; r < cpu::rounded_rows; ++r) limits[r] = static_cast<int32_t>(std::min(1 + r * all / 28, all));
  const auto run = [&](void (*kernel)(const cpu::RoundedCausalTile&)) {
    std::vector<float> o(static_cast<size_t>(width * cpu::rounded_rows), 0.0f), out(o.size(), 7.0f);
    std::vector<float> peak(cpu::rounded_rows, -std::numeric_limits<float>::infinity()), total(peak.size(), 0.0f);
    cpu::RoundedCausalTile tile{q.data(),
                                keys.data(),
                                values.data(),
                                width,
                                0,
                                count,
                                limits,
                                o.data(),
                                peak.data(),
                                total.data(),
                                second > 0 ? nullptr : out.data()};
    kernel(tile);
    if (second > 0) {
      tile.keys += room * width;
      tile.values += room * width;
      tile.first = count;
      tile.count = second;
      tile.out = out.data();
      kernel(tile);
    }
    o.insert(o.end(), out.begin(), out.end());
    o.insert(o.end(), peak.begin(), peak.end());
    o.insert(o.end(), total.begin(), total.end());
    return o;
  };
  expect_same("attention of " + std::to_string(width) + " numbers to " + std::to_string(count) + " and " +
                  std::to_string(second) + " keys",
              run(attend_causal<TileProducts<Tiles>>), run(cpu::scalar::attend_causal_tiles));
}
#endif

// Columns in one piece and in two, of which the second adds.
void decoded(int64_t panels, int64_t tokens, int64_t columns) {
  const int64_t stride = columns + 32, rows = panels * 16, y_stride = rows + 5;
  const std::vector<uint16_t> weights = halves((panels + 1) / 2 * columns / 32 * cpu::decoded_block, 5);
  const std::vector<uint16_t> x = halves(tokens * stride, 6);
  std::vector<float> actual(static_cast<size_t>(tokens * y_stride), 0.25f), expected(actual);
  const auto expect = [&](bool adds) {
    cpu::DecodedTile tile{weights.data(), panels, columns, x.data(), stride, tokens, actual.data(), y_stride, adds};
    ::multiply_decoded<Tiles>(tile);
    tile.y = expected.data();
    cpu::scalar::multiply_decoded(tile);
    expect_same(std::to_string(panels) + " panels of " + std::to_string(columns) + " columns, " +
                    std::to_string(tokens) + " tokens" + (adds ? ", added" : ""),
                actual, expected);
  };
  expect(false);
  expect(true);
}

// Weights and activations end where a page could: nothing behind them may be read as a number.
void rows(int64_t count, int64_t tokens, int64_t in) {
  const int64_t x_stride = in + 5;
  const std::vector<uint16_t> weights = halves(count * in, 5), x = halves(tokens * x_stride, 6);
  const int64_t stride = count + 3;
  std::vector<float> actual(static_cast<size_t>(tokens * stride), 7.0f), expected(actual);
  const auto* at = reinterpret_cast<const std::byte*>(weights.data());
  row_tiles<Tiles>({at, count, in, x.data(), x_stride, tokens, actual.data(), stride});
  cpu::scalar::rows_bf16_tiles({at, count, in, x.data(), x_stride, tokens, expected.data(), stride});
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
#if defined(__AVX512BF16__)
  const uint8_t table[16] = {0, 9, 33, 47, 70, 90, 101, 120, 128, 130, 150, 171, 190, 211, 233, 255};
  const Form forms[] = {{4, false, 32, 8},   {4, true, 32, 0},  {4, true, 16, 0},   {4, false, 32, 128, table},
                        {8, false, 32, 128}, {8, true, 128, 0}, {8, false, 16, 32}, {6, false, 16, 32},
                        {5, true, 32, 0},    {3, true, 64, 0},  {2, true, 16, 0},   {5, false, 32, 16}};
  for (const Form& form : forms)
    for (const int64_t blocks : {1, 4, 10}) decode(form, blocks);
  for (const int64_t width : {32, 96, 128}) {
    for (const int64_t count : {1, 63, 64, 130}) attend(width, count, 0);
    attend(width, 64, 37);
  }
#endif
  for (const int64_t panels : {1, 2, 3})
    for (const int64_t tokens : {1, 16, 17, 32, 33, 80})
      for (const int64_t columns : {32, 544}) decoded(panels, tokens, columns);
  for (const int64_t count : {1, 50, 300})
    for (const int64_t tokens : {1, 17, 40})
      for (const int64_t in : {31, 64, 544}) rows(count, tokens, in);
  rows(40, 35, 1100);
  if (wrong == 0) std::printf("bit for bit\n");
  return wrong == 0 ? 0 : 1;
}
