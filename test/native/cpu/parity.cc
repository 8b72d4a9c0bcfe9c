// Every inner loop of this processor against the scalar one, and a small model on each: for a processor that is
// emulated, where the addon and its op tests cannot run. Prints the sets it has compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "attention_checks.h"
#include "cpu/kernels/kernels.h"
#include "cpu/weights/floats.h"
#include "cpu/weights/packed_weights.h"
#include "parity_checks.h"
#include "small_model.h"

namespace longhand {
namespace {

using cpu::Kernels;
using testing::Random;
using namespace parity;

constexpr double sums = 2e-6, recurrences = 2e-5;  // as test/ops/thresholds.ts

void conversions(const Kernels& kernels) {
  std::vector<uint16_t> halves;
  for (int i = 0; i < 65536; ++i)  // every f16 but NaN
    if ((i & 0x7fff) <= 0x7c00) halves.push_back(static_cast<uint16_t>(i));
  const auto* from = reinterpret_cast<const std::byte*>(halves.data());
  std::vector<float> a(halves.size()), b(a);
  kernels.from_f16(from, static_cast<int64_t>(a.size()), a.data());
  cpu::scalar_kernels.from_f16(from, static_cast<int64_t>(b.size()), b.data());
  expect_same(kernels, "from_f16", a, b);
  kernels.from_bf16(from, static_cast<int64_t>(a.size()), a.data());
  cpu::scalar_kernels.from_bf16(from, static_cast<int64_t>(b.size()), b.data());
  expect_same(kernels, "from_bf16", a, b);
  // Between every two f16 a little less than the middle, the middle and a little more; both zeros, overflow, infinity.
  std::vector<float> x{0.0f, -0.0f, 65519.0f, 65520.0f, -1e30f, std::numeric_limits<float>::infinity(), 1e-40f};
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const float middle =
        (cpu::from_f16(static_cast<uint16_t>(half)) + cpu::from_f16(static_cast<uint16_t>(half + 1))) / 2;
    x.insert(x.end(), {std::nextafter(middle, 0.0f), -middle, std::nextafter(middle, 1e6f)});
  }
  std::vector<uint16_t> rounded(x.size()), expected(x.size());
  kernels.to_f16(x.data(), static_cast<int64_t>(x.size()), reinterpret_cast<std::byte*>(rounded.data()));
  cpu::scalar_kernels.to_f16(x.data(), static_cast<int64_t>(x.size()), reinterpret_cast<std::byte*>(expected.data()));
  expect_same(kernels, "to_f16", rounded, expected);
}

// Rows of x, rounded.
struct Rounded {
  std::vector<int8_t> codes;  // [rows, 2, width]
  std::vector<float> scales;
  std::vector<int32_t> sums;

  Rounded(const Kernels& kernels, const std::vector<float>& x, size_t width)
      : codes(2 * x.size()), scales(x.size() / 32), sums(x.size() / 16) {
    for (size_t at = 0; at < x.size(); at += width) {
      int8_t* high = codes.data() + 2 * at;
      kernels.quantise(x.data() + at, static_cast<int64_t>(width), high, high + width, scales.data() + at / 32,
                       sums.data() + at / 16);
    }
  }
};

void rounding(const Kernels& kernels) {
  std::vector<float> x = numbers(32 * 40, 1);
  std::fill_n(x.begin() + 64, 32, 0.0f);
  for (size_t i = 0; i < 32; ++i) {
    x[96 + i] = i == 0 ? cpu::most_code : static_cast<float>(i) * 100.0f - 15.5f;  // ties
    x[128 + i] = static_cast<float>(i) * 128.0f - 64.0f;                           // between two high bytes
    x[160 + i] *= 1e-34f;                                                          // too small for an inverse
    x[192 + i] *= 1e38f;
  }
  x[128] = -cpu::most_code;
  const Rounded a(kernels, x, x.size()), b(cpu::scalar_kernels, x, x.size());
  expect_same(kernels, "quantise: codes", a.codes, b.codes);
  expect_same(kernels, "quantise: scales", a.scales, b.scales);
  expect_same(kernels, "quantise: sums", a.sums, b.sums);
  for (size_t i = 0; i < x.size(); ++i) {
    const double code = 128.0 * a.codes[i] + a.codes[x.size() + i], scale = a.scales[i / 32];
    const double off = std::fabs(code * scale - x[i]), allowed = i / 32 == 5 ? cpu::least_peak : 0.5001 * scale;
    if (off > allowed) report(kernels, "quantise: " + std::to_string(x[i]), off);
  }
}

std::vector<uint8_t> random_codes(size_t count, uint32_t seed) {
  Random random(seed);
  std::vector<uint8_t> out(count + 4096);  // kernels fetch ahead
  for (uint8_t& code : out) code = static_cast<uint8_t>(random.bits());
  return out;
}

// Rows whose first blocks are as large as can be, where sums of 16 bits are nearest to their end.
std::vector<float> inputs(int64_t rows, int64_t width) {
  std::vector<float> x = numbers(static_cast<size_t>(rows * width), 7);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < 64; ++i) x[static_cast<size_t>(row * width + i)] = i < 32 ? 1.0f : -1.0f;
  return x;
}

struct Form {
  int bits;
  bool table, biased;
  int64_t group;
  int zero;
};

constexpr int64_t blocks = 8, columns = blocks * cpu::block_columns;

// Two panels of random codes, their scales and biases of a usual size.
std::vector<uint8_t> random_panels(const cpu::PanelLayout& layout) {
  std::vector<uint8_t> panels = random_codes(static_cast<size_t>(2 * layout.panel_bytes()), 3);
  const bool f32 = layout.scales == cpu::ScaleKind::f32, two_level = layout.scales == cpu::ScaleKind::two_level;
  const int64_t arrays = layout.biased ? 2 : 1, rows = two_level ? layout.in / 256 : layout.groups();
  const std::vector<float> scales = numbers(static_cast<size_t>(2 * arrays * rows * cpu::panel_rows), 21, 0.01f);
  const size_t each = scales.size() / 2;
  for (size_t i = 0; i < scales.size(); ++i) {
    uint8_t* to = panels.data() + i / each * static_cast<size_t>(layout.panel_bytes());
    const bool bf16 = layout.scales == cpu::ScaleKind::bf16;
    const uint16_t half = bf16 ? cpu::to_bf16(scales[i]) : cpu::to_f16(scales[i]);
    if (f32) std::memcpy(to + i % each * sizeof(float), &scales[i], sizeof(float));
    else std::memcpy(to + i % each * sizeof half, &half, sizeof half);
  }
  return panels;
}

// Scales decoded on the way.
void packed_panels(const Kernels& kernels, const Form& form, cpu::ScaleKind kind, int panel_count, int64_t tokens) {
  const std::vector<uint8_t> table = random_codes(16, 4);
  const cpu::PanelLayout layout{.in = columns,
                                .bits = form.bits,
                                .zero = form.zero,
                                .table = form.table ? table.data() : nullptr,
                                .group = form.group,
                                .scales = kind,
                                .biased = form.biased,
                                .global = form.table ? 0.75f : 1.0f};
  const std::vector<uint8_t> memory = random_panels(layout);
  const cpu::PackedScales scales = cpu::packed_scales(layout, reinterpret_cast<const std::byte*>(memory.data()));
  const Rounded rounded(cpu::scalar_kernels, inputs(tokens, columns), columns);
  const auto product = [&](const Kernels& with) {
    std::vector<float> sums(static_cast<size_t>(tokens * panel_count * cpu::panel_rows), 0.25f);
    with.panel_fast({.codes = memory.data() + layout.scale_bytes(),
                     .bits = form.bits,
                     .table = layout.table,
                     .packed = &scales,
                     .panels = panel_count,
                     .code_stride = layout.panel_bytes(),
                     .blocks = blocks,
                     .group = form.group,
                     .zero = form.zero,
                     .code_bits = form.table ? 8 : form.bits,
                     .tokens = tokens,
                     .x_codes = rounded.codes.data(),
                     .x_scales = rounded.scales.data(),
                     .x_code_sums = rounded.sums.data(),
                     .x_stride = columns,
                     .scale_step = columns / 32,
                     .sum_step = columns / 16,
                     .sums = sums.data()});
    return sums;
  };
  expect_same(kernels,
              "panel_fast as packed: " + std::to_string(form.bits) + " bits, groups of " + std::to_string(form.group) +
                  ", scales of kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(panel_count) +
                  " panels, " + std::to_string(tokens) + " tokens",
              product(kernels), product(cpu::scalar_kernels));
}

// Codes of form.bits, each in a byte; the first blocks hold the largest.
void panels(const Kernels& kernels, const Form& form, int panel_count, int64_t tokens) {
  const int64_t code_stride = blocks * cpu::unpacked_block_bytes, groups = columns / form.group;
  std::vector<uint8_t> codes = random_codes(static_cast<size_t>(2 * code_stride), 3);
  const auto largest = static_cast<uint8_t>((1 << form.bits) - 1);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = i % static_cast<size_t>(code_stride) < 2 * cpu::unpacked_block_bytes ? largest : codes[i] & largest;
  const std::vector<float> scales = numbers(static_cast<size_t>(2 * groups * 16), 5, 0.01f);
  const std::vector<float> biases = numbers(scales.size(), 6, 0.01f);
  const std::vector<float> x = inputs(tokens, columns);
  const Rounded rounded(cpu::scalar_kernels, x, columns);
  std::vector<float> x_sums(x.size() / 16);
  for (size_t i = 0; i < x.size(); ++i) x_sums[i / 16] += x[i];
  const auto product = [&](const Kernels& with, bool fast) {
    std::vector<float> sums(static_cast<size_t>(tokens * panel_count * 16), 0.25f);
    cpu::PanelTile tile{.codes = codes.data(),
                        .scales = scales.data(),
                        .biases = form.biased ? biases.data() : nullptr,
                        .panels = panel_count,
                        .code_stride = code_stride,
                        .scale_stride = groups * 16,
                        .blocks = blocks,
                        .group = form.group,
                        .zero = form.zero,
                        .code_bits = form.bits,
                        .tokens = tokens,
                        .x_codes = rounded.codes.data(),
                        .x_scales = rounded.scales.data(),
                        .x_code_sums = rounded.sums.data(),
                        .x = x.data(),
                        .x_sums = x_sums.data(),
                        .x_stride = columns,
                        .scale_step = columns / 32,
                        .sum_step = columns / 16,
                        .sums = sums.data()};
    (fast ? with.panel_fast : with.panel_exact)(tile);
    return sums;
  };
  const std::string what = std::to_string(form.bits) + " bits, groups of " + std::to_string(form.group) + ", " +
                           std::to_string(panel_count) + " panels, " + std::to_string(tokens) + " tokens";
  expect_same(kernels, "panel_fast: " + what, product(kernels, true), product(cpu::scalar_kernels, true));
  expect_near(kernels, "panel_exact: " + what, product(kernels, false), product(cpu::scalar_kernels, false), sums);
}

void unpacking(const Kernels& kernels, const Form& form) {
  const std::vector<uint8_t> codes = random_codes(static_cast<size_t>(2 * blocks * form.bits * cpu::quad_bytes), 3);
  const std::vector<uint8_t> table = random_codes(16, 4);
  std::vector<uint8_t> a(static_cast<size_t>(2 * blocks * cpu::unpacked_block_bytes)), b(a);
  const uint8_t* looked_up = form.table ? table.data() : nullptr;
  kernels.unpack({codes.data(), form.bits, looked_up, 2 * blocks, a.data()});
  cpu::scalar_kernels.unpack({codes.data(), form.bits, looked_up, 2 * blocks, b.data()});
  expect_same(kernels, "unpack: " + std::to_string(form.bits) + " bits", a, b);
}

void products(const Kernels& kernels) {
  const Form forms[] = {{2, false, true, 16, 0},  {3, false, false, 16, 4},  {4, false, false, 32, 8},
                        {4, false, true, 64, 0},  {4, true, false, 32, 128}, {4, true, false, 16, 128},
                        {5, false, true, 32, 0},  {6, false, false, 16, 32}, {8, false, false, 32, 128},
                        {8, false, true, 128, 0}, {8, false, true, 16, 0},   {8, false, false, 16, 32}};
  for (const Form& form : forms)
    for (const int panel_count : {1, 2})
      for (const int64_t tokens : {1, 2, 3, 4, 5, 7, 12})
        if (!form.table) panels(kernels, form, panel_count, tokens);
  for (const Form& form : forms) {
    unpacking(kernels, form);
    for (const auto kind : {cpu::ScaleKind::f16, cpu::ScaleKind::bf16, cpu::ScaleKind::f32, cpu::ScaleKind::two_level})
      if (kind != cpu::ScaleKind::two_level || form.group <= 32)
        for (const int panel_count : {1, 2})
          for (const int64_t tokens : {1, 2, 3, 4, 6, 8, 15}) packed_panels(kernels, form, kind, panel_count, tokens);
  }
}

// [tokens, rows] of bf16, f16 and fp32 weights.
void float_rows(const Kernels& kernels) {
  for (const int64_t in : {1, 31, 64, 100}) {
    for (const int64_t tokens : {1, 3, 6}) {
      const std::vector<float> weights = numbers(static_cast<size_t>(11 * in), 8);
      const std::vector<float> x = numbers(static_cast<size_t>(tokens * in), 9);
      const auto product = [&](void (*rows)(const cpu::RowTile&)) {
        std::vector<float> y(static_cast<size_t>(tokens * 11));
        rows({reinterpret_cast<const std::byte*>(weights.data()), 11, in, x.data(), in, tokens, y.data(), 11});
        return y;
      };
      const Kernels& scalar = cpu::scalar_kernels;
      expect_near(kernels, "rows_f32", product(kernels.rows_f32), product(scalar.rows_f32), sums);
      // The low halves of floats are numbers too, but may be NaN: only their absence is asked of f16 and bf16.
      std::vector<uint16_t> halves(weights.size());
      for (size_t i = 0; i < halves.size(); ++i)
        std::memcpy(&halves[i], reinterpret_cast<const char*>(&weights[i]) + 2, 2);
      const auto short_product = [&](void (*rows)(const cpu::RowTile&)) {
        std::vector<float> y(static_cast<size_t>(tokens * 11));
        rows({reinterpret_cast<const std::byte*>(halves.data()), 11, in, x.data(), in, tokens, y.data(), 11});
        return y;
      };
      expect_near(kernels, "rows_bf16", short_product(kernels.rows_bf16), short_product(scalar.rows_bf16), sums);
      for (uint16_t& half : halves) half = static_cast<uint16_t>((half & 0x83ff) | 0x3800);
      expect_near(kernels, "rows_f16", short_product(kernels.rows_f16), short_product(scalar.rows_f16), sums);
    }
  }
}

void vectors(const Kernels& kernels) {
  const Kernels& scalar = cpu::scalar_kernels;
  for (const int64_t n : {1, 3, 16, 37, 100}) {
    const std::vector<float> x = numbers(static_cast<size_t>(n), 10, 8.0f), z = numbers(x.size(), 11, 8.0f);
    const auto changed = [&](auto&& change) {
      std::vector<float> out = x;
      change(out.data());
      return out;
    };
    const auto compare = [&](const char* what, auto&& with, double threshold) {
      expect_near(kernels, what, changed([&](float* to) { with(kernels, to); }),
                  changed([&](float* to) { with(scalar, to); }), threshold);
    };
    compare("silu", [&](const Kernels& k, float* to) { k.silu(to, n); }, curves);
    compare("multiply_silu", [&](const Kernels& k, float* to) { k.multiply_silu(to, z.data(), n); }, curves);
    compare("multiply_sigmoid", [&](const Kernels& k, float* to) { k.multiply_sigmoid(to, z.data(), n); }, curves);
    compare("softmax", [&](const Kernels& k, float* to) { k.softmax(to, n); }, curves);
    compare("rms_norm", [&](const Kernels& k, float* to) { k.rms_norm(to, z.data(), 1e-6f, n, to); }, curves);
    compare("add_scaled", [&](const Kernels& k, float* to) { k.add_scaled(to, 0.3f, z.data(), n); }, sums);
    compare("dot", [&](const Kernels& k, float* to) { to[0] = k.dot(x.data(), z.data(), n); }, sums);
    compare("largest", [&](const Kernels& k, float* to) { to[0] = k.largest(x.data(), n); }, 0);
    compare(
        "sum_exp", [&](const Kernels& k, float* to) { to[0] = static_cast<float>(k.sum_exp(x.data(), 8, n)); }, curves);
  }
}

// 37 tokens: blocks of several, and single ones behind them. Rows lie further apart than they are long.
void linear_attention(const Kernels& kernels) {
  constexpr int64_t tokens = 37, dim = 20, stride = 24;
  const auto q = numbers(tokens * stride, 12, 0.5f), k = numbers(tokens * stride, 13, 0.5f);
  const auto v = numbers(tokens * stride, 14), state = numbers(dim * dim, 15);
  std::vector<float> decay = numbers(tokens, 16, 0.5f), beta(decay);
  for (float& x : decay) x += 0.5f;
  for (float& x : beta) x += 0.5f;
  decay[5] = 1e-30f;  // a token that forgets everything
  const auto outcome = [&](const Kernels& with, bool delta) {
    std::vector<float> out(tokens * dim + dim * dim);
    float* S = out.data() + tokens * dim;
    std::copy(state.begin(), state.end(), S);
    if (delta) {
      with.delta({S, dim, dim, 0, dim, q.data(), k.data(), v.data(), stride, tokens, decay.data(), beta.data(), 1,
                  out.data(), dim});
    } else {
      with.gla(
          {S, dim, dim, q.data(), k.data(), v.data(), stride, stride, stride, tokens, 0.9f, 0.2f, out.data(), dim});
    }
    return out;
  };
  for (const bool delta : {true, false})
    expect_near(kernels, delta ? "delta" : "gla", outcome(kernels, delta), outcome(cpu::scalar_kernels, delta),
                recurrences);
}

void model(const Kernels& kernels, const std::vector<float> (&expected)[2]) {
  const Creation creation = create_cpu({.threads = 2, .instructions = kernels.name});
  testing::SmallModel small(*creation.backend);
  expect_near(kernels, "the model, exact path", small.run(7, 7, 2, Path::exact), expected[0], 1e-4);
  expect_near(kernels, "the model in passes of 3", small.run(7, 3, 2, Path::exact), expected[0], 1e-4);
  expect_near(kernels, "the model, fast path", small.run(7, 7, 2, Path::fast), expected[1], 1e-2);
}

}  // namespace
}  // namespace longhand

int main() {
  using namespace longhand;
  const auto backend = create_cpu({.threads = 1, .instructions = "scalar"}).backend;
  testing::SmallModel small(*backend);
  const std::vector<float> expected[2] = {small.run(7, 7, 2, Path::exact), small.run(7, 7, 2, Path::fast)};
  for (const cpu::Kernels* kernels : cpu::available_kernels()) {
    if (std::strncmp(kernels->name, "scalar", 6) == 0) continue;  // with and without tiles
    conversions(*kernels);
    rounding(*kernels);
    products(*kernels);
    float_rows(*kernels);
    vectors(*kernels);
    for (const int64_t heads : {1, 3, 16})
      for (const int64_t rows : {1, 2, 3, 6, 8})
        for (const int64_t dim : {40, 64, 128}) softmax_attention(*kernels, heads, rows, dim);
    for (const int64_t rows : {1, 7, 64})
      for (const int64_t dim : {4, 40, 72, 128}) whole_attention(*kernels, rows, dim);
    linear_attention(*kernels);
    model(*kernels, expected);
    std::printf("%s\n", kernels->name);
  }
  return wrong == 0 ? 0 : 1;
}
