// The inner loops over a vector type V (vector_*.h). Each including file is compiled for one instruction set, so
// everything here stays in the file's own anonymous namespace: a shared inline function could end up compiled for the
// wrong one.
#pragma once

#include "cpu/kernels/kernels.h"
#include "cpu/simd/vector_panels.h"

namespace {

template <class V>
float dot(const float* a, const float* b, int64_t n);

}  // namespace

#include "cpu/simd/vector_blocks.h"
#include "cpu/simd/vector_chunks.h"
#include "cpu/simd/vector_rows.h"

namespace {

using longhand::cpu::AttentionTile;
using longhand::cpu::ConvTile;
using longhand::cpu::Kernels;

// e^x, relative error below 2^-22; 0 below -87.33, where fp32 has no normal number left.
template <class V>
inline typename V::F exp(typename V::F x) {
  using F = typename V::F;
  const F lowest = V::set(-87.33f), highest = V::set(88.37f), magic = V::set(12582912.0f);  // 1.5 2^23
  const F bounded = V::min(V::max(x, lowest), highest);
  const F rounded = V::fma(bounded, V::set(1.44269504f), magic);
  const F n = V::sub(rounded, magic);
  F r = V::fma(n, V::set(-0.693359375f), bounded);  // ln 2 in two parts
  r = V::fma(n, V::set(2.12194440e-4f), r);
  F p = V::set(1.9875691500e-4f);
  p = V::fma(p, r, V::set(1.3981999507e-3f));
  p = V::fma(p, r, V::set(8.3334519073e-3f));
  p = V::fma(p, r, V::set(4.1665795894e-2f));
  p = V::fma(p, r, V::set(1.6666665459e-1f));
  p = V::fma(p, r, V::set(5.0000001201e-1f));
  p = V::add(V::fma(V::mul(r, r), p, r), V::set(1.0f));
  return V::where_at_least(x, lowest, V::scale_by_bits(p, rounded));
}

template <class V>
inline typename V::F sigmoid(typename V::F x) {
  return V::div(V::set(1.0f), V::add(V::set(1.0f), exp<V>(V::sub(V::zero(), x))));
}

// Calls op(load, store) for every vector of [0, n), the last one partial.
template <class V, class Op>
inline void for_vectors(int64_t n, const Op& op) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width)
    op(i, [](const float* p) { return V::load(p); }, [](float* p, typename V::F x) { V::store(p, x); });
  if (const int64_t left = n - i; left > 0)
    op(
        i, [left](const float* p) { return V::load_part(p, left); },
        [left](float* p, typename V::F x) { V::store_part(p, x, left); });
}

template <class V>
float dot(const float* a, const float* b, int64_t n) {
  typename V::F sum = V::zero();
  for_vectors<V>(n, [&](int64_t i, auto load, auto) { sum = V::fma(load(a + i), load(b + i), sum); });
  return V::sum(sum);
}

template <class V>
void add_scaled(float* y, float a, const float* x, int64_t n) {
  const typename V::F factor = V::set(a);
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) { store(y + i, V::fma(factor, load(x + i), load(y + i))); });
}

template <class V>
void rms_norm(const float* x, const float* weight, float eps, int64_t n, float* y) {
  const float mean = dot<V>(x, x, n) / static_cast<float>(n);
  const typename V::F inverse = V::set(1.0f / __builtin_sqrtf(mean + eps));
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    store(y + i, V::mul(V::mul(load(x + i), inverse), load(weight + i)));
  });
}

template <class V>
void silu(float* x, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F value = load(x + i);
    store(x + i, V::mul(value, sigmoid<V>(value)));
  });
}

template <class V>
void multiply_silu(float* x, const float* z, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F gate = load(z + i);
    store(x + i, V::mul(load(x + i), V::mul(gate, sigmoid<V>(gate))));
  });
}

template <class V>
void multiply_sigmoid(float* x, const float* z, int64_t n) {
  for_vectors<V>(n,
                 [&](int64_t i, auto load, auto store) { store(x + i, V::mul(load(x + i), sigmoid<V>(load(z + i)))); });
}

// erf(t) for t >= 0, relative error below 2^-22: t + t p(t^2) to 0.93, 1 - exp(-t - t q(t)) beyond. Nearest polynomials
// in fp32 (N. Juffa).
template <class V>
inline typename V::F erf(typename V::F t) {
  using F = typename V::F;
  const F bounded = V::min(t, V::set(4.0f)), square = V::mul(bounded, bounded);
  const F border = V::set(0.927734375f), below = V::set(0.92773432f);  // neighbours in fp32
  F p = V::set(-5.96761703e-4f);
  p = V::fma(p, square, V::set(4.99119423e-3f));
  p = V::fma(p, square, V::set(-2.67681349e-2f));
  p = V::fma(p, square, V::set(1.12819925e-1f));
  p = V::fma(p, square, V::set(-3.76125336e-1f));
  p = V::fma(p, square, V::set(1.28379166e-1f));
  const F near = V::fma(p, bounded, bounded);
  const F low = V::fma(V::set(-1.72853470e-5f), bounded, V::set(3.83197126e-4f));
  const F high = V::fma(V::set(-3.88396438e-3f), bounded, V::set(2.42546219e-2f));
  F q = V::fma(low, square, high);
  q = V::fma(q, bounded, V::set(-1.06777877e-1f));
  q = V::fma(q, bounded, V::set(-6.34846687e-1f));
  q = V::fma(q, bounded, V::set(-1.28717512e-1f));
  const F far = V::sub(V::set(1.0f), exp<V>(V::fma(q, bounded, V::sub(V::zero(), bounded))));
  return V::add(V::where_at_least(below, bounded, near), V::where_at_least(bounded, border, far));
}

// x (1 + erf(x / sqrt 2)) / 2; erf being odd, x erf(x) = |x| erf(|x|).
template <class V>
void gelu_erf(float* x, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F value = load(x + i), size = V::abs(value);
    const typename V::F both = V::fma(size, erf<V>(V::mul(size, V::set(0.70710678118654752f))), value);
    store(x + i, V::mul(both, V::set(0.5f)));
  });
}

// (1 + tanh u) / 2 is the sigmoid of 2 u.
template <class V>
void gelu_tanh(float* x, int64_t n) {
  for_vectors<V>(n, [&](int64_t i, auto load, auto store) {
    const typename V::F value = load(x + i), square = V::mul(value, value);
    const typename V::F twice = V::mul(V::fma(square, V::set(0.071354816f), V::set(1.5957691216f)), value);
    store(x + i, V::mul(value, sigmoid<V>(twice)));
  });
}

template <class V>
float largest(const float* x, int64_t n) {
  float peak = x[0];
  int64_t i = 0;
  if (n >= V::width) {
    typename V::F most = V::load(x);
    for (; i + V::width <= n; i += V::width) most = V::max(most, V::load(x + i));
    peak = V::largest(most);
  }
  for (; i < n; ++i) peak = x[i] > peak ? x[i] : peak;
  return peak;
}

// Partial sums of a few thousand terms in fp32, those in fp64.
template <class V>
double sum_exp(const float* x, float peak, int64_t n) {
  constexpr int64_t block = 4096;
  const typename V::F shift = V::set(peak);
  double total = 0;
  for (int64_t first = 0; first < n; first += block) {
    const int64_t count = smaller(block, n - first), whole = count / V::width * V::width;
    typename V::F sum = V::zero();
    for (int64_t i = 0; i < whole; i += V::width) sum = V::add(sum, exp<V>(V::sub(V::load(x + first + i), shift)));
    total += static_cast<double>(V::sum(sum));
    for (int64_t i = whole; i < count; ++i) total += static_cast<double>(__builtin_expf(x[first + i] - peak));
  }
  return total;
}

template <class V>
void softmax(float* x, int64_t n) {
  const typename V::F peak = V::set(largest<V>(x, n));
  typename V::F sum = V::zero();
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) {
    const typename V::F e = exp<V>(V::sub(V::load(x + i), peak));
    V::store(x + i, e);
    sum = V::add(sum, e);
  }
  float total = V::sum(sum);
  if (const int64_t left = n - i; left > 0) {
    V::store_part(x + i, exp<V>(V::sub(V::load_part(x + i, left), peak)), left);
    for (int64_t j = i; j < n; ++j) total += x[j];
  }
  const typename V::F inverse = V::set(1.0f / total);
  for_vectors<V>(n, [&](int64_t j, auto load, auto store) { store(x + j, V::mul(load(x + j), inverse)); });
}

// Channels [c, c + V::width): taps and the inputs that the next token needs again stay in registers.
template <class V, int Width>
inline void convolve_channels(const ConvTile& tile, int64_t c) {
  typename V::F taps[Width], x[Width];
  if constexpr (Width == 4) V::load_fours(tile.taps + c * Width, taps);
  else
    for (int j = 0; j < Width; ++j) taps[j] = V::gather(tile.taps + c * Width + j, Width);
  for (int j = 1; j < Width; ++j) x[j] = V::load(tile.inputs[j - 1] + c);
  for (int64_t t = 0; t < tile.tokens; ++t) {
    for (int j = 1; j < Width; ++j) x[j - 1] = x[j];
    x[Width - 1] = V::load(tile.inputs[t + Width - 1] + c);
    typename V::F sum = V::zero();
    for (int j = 0; j < Width; ++j) sum = V::fma(taps[j], x[j], sum);
    V::store(tile.y + t * tile.y_stride + c, sum);
  }
}

// The same for any width.
template <class V>
inline void convolve_widely(const ConvTile& tile, int64_t c) {
  for (int64_t t = 0; t < tile.tokens; ++t) {
    typename V::F sum = V::zero();
    for (int64_t j = 0; j < tile.width; ++j)
      sum = V::fma(V::gather(tile.taps + c * tile.width + j, tile.width), V::load(tile.inputs[t + j] + c), sum);
    V::store(tile.y + t * tile.y_stride + c, sum);
  }
}

template <class V>
void convolve(const ConvTile& tile) {
  int64_t c = 0;
  for (; c + V::width <= tile.channels; c += V::width) {
    if (tile.width == 4) convolve_channels<V, 4>(tile, c);
    else if (tile.width == 3) convolve_channels<V, 3>(tile, c);
    else convolve_widely<V>(tile, c);
  }
  for (; c < tile.channels; ++c) {
    for (int64_t t = 0; t < tile.tokens; ++t) {
      float sum = 0;
      for (int64_t j = 0; j < tile.width; ++j)
        sum = __builtin_fmaf(tile.taps[c * tile.width + j], tile.inputs[t + j][c], sum);
      tile.y[t * tile.y_stride + c] = sum;
    }
  }
}

template <class V>
void from_f16(const std::byte* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) V::store(to + i, V::load_f16(from + 2 * i));
  if (n > i) V::store_part(to + i, V::load_f16_part(from + 2 * i, n - i), n - i);
}

template <class V>
void to_f16(const float* from, int64_t n, std::byte* to) {
  int64_t i = 0;
  for (; i + V::width <= n; i += V::width) V::store_f16(to + 2 * i, V::load(from + i));
  if (n == i) return;
  uint16_t part[V::width];
  V::store_f16(part, V::load_part(from + i, n - i));
  __builtin_memcpy(to + 2 * i, part, static_cast<size_t>(2 * (n - i)));
}

}  // namespace

#include "cpu/simd/vector_attention.h"
#include "cpu/simd/vector_states.h"

namespace {

template <class V>
constexpr Kernels vector_kernels(const char* name) {
  return {.name = name,
          .dot = dot<V>,
          .add_scaled = add_scaled<V>,
          .rms_norm = rms_norm<V>,
          .silu = silu<V>,
          .multiply_silu = multiply_silu<V>,
          .multiply_sigmoid = multiply_sigmoid<V>,
          .gelu_erf = gelu_erf<V>,
          .gelu_tanh = gelu_tanh<V>,
          .largest = largest<V>,
          .sum_exp = sum_exp<V>,
          .softmax = softmax<V>,
          .convolve = convolve<V>,
          .from_f16 = from_f16<V>,
          .to_f16 = to_f16<V>,
          .from_bf16 = from_bf16<V>,
          .two_level = two_level<V>,
          .unpack = unpack<V>,
          .quantise = quantise<V>,
          .panel_fast = panel_fast<V>,
          .packed_tokens = few_tokens<V>,
          .reads_blocks = V::registers == 32 && parts<V> == 1,
          .panel_exact = panel_exact<V>,
          .rows_f32 = rows_tile<V, F32Rows<V>>,
          .rows_f16 = rows_tile<V, F16Rows<V>>,
          .rows_bf16 = rows_tile<V, Bf16Rows<V>>,
          .round_bf16 = nullptr,
          .rows_bf16_rounded = nullptr,
          .attend_whole_rounded = nullptr,
          .attend = attend<V>,
          .attend_whole = attend_whole<V>,
          .delta = delta<V>,
          .gla = gla<V>};
}

}  // namespace
