// Attention of an instruction set against the scalar one, for parity.cc.
#pragma once

#include <limits>

#include "cpu/weights/floats.h"
#include "parity_checks.h"

namespace longhand::parity {

inline constexpr double curves = 5e-6;  // as test/ops/thresholds.ts

struct Attended {
  std::vector<float> o, peak, sum;
};

// Some heads at once and one by one, keys as f16 and the same decoded: one and the same bits.
inline void softmax_attention(const Kernels& kernels, int64_t heads, int64_t rows, int64_t dim) {
  constexpr int64_t keys = 75, first = 32;
  const int64_t width = heads * dim;
  const std::vector<float> q = numbers(static_cast<size_t>(heads * rows * dim), 31, 0.5f);
  std::vector<float> decoded = numbers(static_cast<size_t>(2 * keys * width), 32);
  std::vector<uint16_t> halves(decoded.size());
  for (size_t i = 0; i < halves.size(); ++i) decoded[i] = cpu::from_f16(halves[i] = cpu::to_f16(decoded[i]));
  std::vector<int64_t> limit;
  for (int64_t r = 0; r < rows; ++r) limit.push_back(first + keys - (r % 3) * 40);  // the last rows see fewer
  const auto attended = [&](const Kernels& with, bool as_halves, int64_t at_once) {
    Attended to{std::vector<float>(q.size()), std::vector<float>(static_cast<size_t>(heads * rows)), {}};
    std::fill(to.peak.begin(), to.peak.end(), -std::numeric_limits<float>::infinity());
    to.sum.resize(to.peak.size());
    const auto* from = as_halves ? reinterpret_cast<const std::byte*>(halves.data())
                                 : reinterpret_cast<const std::byte*>(decoded.data());
    const int64_t bytes = as_halves ? 2 : 4;
    for (int64_t h = 0; h < heads; h += at_once)
      with.attend({q.data() + h * rows * dim, at_once, rows, dim, from + h * dim * bytes,
                   from + (keys * width + h * dim) * bytes, as_halves, width, first, keys, limit.data(),
                   to.o.data() + h * rows * dim, to.peak.data() + h * rows, to.sum.data() + h * rows});
    return to;
  };
  const std::string what =
      "attend: " + std::to_string(heads) + " heads, " + std::to_string(rows) + " rows, dim " + std::to_string(dim);
  const Attended together = attended(kernels, true, heads), alone = attended(kernels, false, 1);
  expect_same(kernels, what + ", heads alone", together.o, alone.o);
  expect_same(kernels, what + ", sums alone", together.sum, alone.sum);
  const Attended expected = attended(cpu::scalar_kernels, true, heads);
  expect_near(kernels, what, together.o, expected.o, curves);
  expect_near(kernels, what + ", sums", together.sum, expected.sum, curves);
}

// Keys that were turned, the last block not full: as the specification, and every row as alone.
inline void whole_attention(const Kernels& kernels, int64_t rows, int64_t dim) {
  constexpr int64_t keys = 2 * cpu::turned_keys + 11;
  const int64_t stride = dim + 3;
  const std::vector<float> q = numbers(static_cast<size_t>(rows * dim), 41, 0.5f);
  const std::vector<float> turned = numbers(static_cast<size_t>(3 * cpu::turned_keys * dim), 42);
  const std::vector<float> values = numbers(static_cast<size_t>(keys * stride), 43);
  const auto attended = [&](const Kernels& with, int64_t at_once) {
    Attended to{std::vector<float>(q.size()), std::vector<float>(static_cast<size_t>(rows)), {}};
    std::fill(to.peak.begin(), to.peak.end(), -std::numeric_limits<float>::infinity());
    to.sum.resize(to.peak.size());
    for (int64_t r = 0; r < rows; r += at_once)
      with.attend_whole({q.data() + r * dim, at_once, dim, turned.data(), values.data(), stride, keys,
                         to.o.data() + r * dim, to.peak.data() + r, to.sum.data() + r});
    return to;
  };
  const std::string what = "attend_whole: " + std::to_string(rows) + " rows, dim " + std::to_string(dim);
  const Attended together = attended(kernels, rows), alone = attended(kernels, 1);
  expect_same(kernels, what + ", rows alone", together.o, alone.o);
  expect_same(kernels, what + ", sums alone", together.sum, alone.sum);
  const Attended expected = attended(cpu::scalar_kernels, rows);
  expect_near(kernels, what, together.o, expected.o, curves);
  expect_near(kernels, what + ", sums", together.sum, expected.sum, curves);
}

}  // namespace longhand::parity
