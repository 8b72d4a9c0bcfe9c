// What parity.cc compares with: random numbers, and reports of what differs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "small_model.h"

namespace longhand::parity {

using cpu::Kernels;
using testing::Random;

inline int wrong = 0;

inline void report(const Kernels& kernels, const std::string& what, double difference) {
  std::printf("[parity] %s: %s differs by %g\n", kernels.name, what.c_str(), difference);
  ++wrong;
}

inline std::vector<float> numbers(size_t count, uint32_t seed, float limit = 2.0f) {
  Random random(seed);
  std::vector<float> out(count);
  for (float& x : out) x = random.between(-limit, limit);
  return out;
}

template <class T>
void expect_same(const Kernels& kernels, const std::string& what, const std::vector<T>& a, const std::vector<T>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return report(kernels, what, std::abs(double(a[i]) - double(b[i])));
}

inline void expect_near(const Kernels& kernels, const std::string& what, const std::vector<float>& a,
                        const std::vector<float>& b, double threshold) {
  double most = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    most = difference <= most ? most : difference;  // NaN stays
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  if (!(most <= threshold * std::max(largest, 1e-30))) report(kernels, what, most / largest);
}

}  // namespace longhand::parity
