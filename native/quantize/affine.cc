#include "quantize/affine.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace longhand {

namespace {

using Group = AffineGroup;

// mlx/backend/cpu/quantized.cpp: the end of the range that is farther from zero is kept exactly, zero is a code. The
// codes come from the scale before it is rounded to what is stored.
Group nearest(const float* w, const AffineFormat& format) {
  const auto [low, high] = std::minmax_element(w, w + format.group);
  const auto bins = static_cast<float>((1 << format.bits) - 1);
  const bool below = std::abs(*low) > std::abs(*high);
  const float width = std::max((*high - *low) / bins, 1e-7f);
  const float edge = below ? *low : *high;
  Group out{.scale = below ? width : -width};
  const float steps = std::rint(edge / out.scale);
  if (steps != 0) {
    out.scale = edge / steps;
    out.bias = edge;
  }
  for (int i = 0; i < format.group; ++i) out.codes[i] = code_of(w[i], out.scale, out.bias, bins);
  return out;
}

double error_of(const float* w, const float* importance, const Group& group, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    const double difference = w[i] - (group.scale * static_cast<float>(group.codes[i]) + group.bias);
    sum += (importance ? importance[i] : 1.0f) * difference * difference;
  }
  return sum;
}

// The group as it will be read: scale and bias rounded as stored, codes chosen for the rounded ones.
Group stored(Group group, const float* w, const AffineFormat& format) {
  const auto bins = static_cast<float>((1 << format.bits) - 1);
  group.scale = rounded_to(format.scale_type, group.scale);
  group.bias = rounded_to(format.scale_type, group.bias);
  if (group.scale == 0 || !std::isfinite(group.scale)) return group;
  for (int i = 0; i < format.group; ++i) group.codes[i] = code_of(w[i], group.scale, group.bias, bins);
  return group;
}

// min over z of |W - (Q(W) - z) * s| ^ 0.7 by half-quadratic splitting, with the published constants (beta 10,
// kappa 1.01, 20 steps); stops when it no longer helps.
Group half_quadratic(const float* w, Group start, const AffineFormat& format) {
  constexpr float norm = 0.7f, growth = 1.01f;
  constexpr int steps = 20;
  const auto bins = static_cast<float>((1 << format.bits) - 1);
  const auto count = static_cast<float>(format.group);
  const auto distance = [&](const Group& group) {
    double sum = 0;
    for (int i = 0; i < format.group; ++i)
      sum += std::pow(std::abs(w[i] - (group.scale * static_cast<float>(group.codes[i]) + group.bias)), norm);
    return sum;
  };
  Group best = start, now = start;
  double least = distance(best);
  float beta = 10.0f / (std::abs(start.scale) > 0 ? std::pow(std::abs(start.scale), 2.0f - norm) : 1.0f);
  for (int step = 0; step < steps; ++step, beta *= growth) {
    float sum = 0;
    for (int i = 0; i < format.group; ++i) {
      const float quantised = now.scale * static_cast<float>(now.codes[i]);
      const float off = w[i] - (quantised + now.bias);
      const float shrunk = std::max(std::abs(off) - std::pow(std::abs(off) + 1e-12f, norm - 1.0f) / beta, 0.0f);
      sum += w[i] - std::copysign(shrunk, off) - quantised;
    }
    now.bias = sum / count;
    for (int i = 0; i < format.group; ++i) now.codes[i] = code_of(w[i], now.scale, now.bias, bins);
    const double found = distance(now);
    if (!(found < least)) break;
    least = found;
    best = now;
  }
  return best;
}

// Scale and bias of the least weighted squares for the codes that are there; false when they are all the same.
bool fit(const float* w, const float* importance, Group& group, int size) {
  double weights = 0, codes = 0, squares = 0, values = 0, products = 0;
  for (int i = 0; i < size; ++i) {
    const double weight = importance ? importance[i] : 1.0f, code = group.codes[i];
    weights += weight;
    codes += weight * code;
    squares += weight * code * code;
    values += weight * w[i];
    products += weight * code * w[i];
  }
  const double determinant = weights * squares - codes * codes;
  if (!(determinant > 1e-12 * weights * squares)) return false;
  group.scale = static_cast<float>((weights * products - codes * values) / determinant);
  group.bias = static_cast<float>((squares * values - codes * products) / determinant);
  return true;
}

// Ranges from a quarter narrower to a little wider than the group's, each end on its own, then the least squares of
// what they give, twice. Plain rounding is among the candidates: it is never worse.
Group searched(const float* w, const float* importance, Group best, const AffineFormat& format) {
  constexpr int grid = 7;
  const auto bins = static_cast<float>((1 << format.bits) - 1);
  const auto [least, most] = std::minmax_element(w, w + format.group);
  const float low = *least, width = *most - *least;
  // The fewer the bits, the more clipping outliers gains.
  const float reach = format.bits <= 3 ? 0.3f : format.bits == 4 ? 0.2f : 0.1f;
  best = stored(best, w, format);
  double error = error_of(w, importance, best, format.group);
  const auto consider = [&](const Group& candidate) {
    const Group now = stored(candidate, w, format);
    const double found = error_of(w, importance, now, format.group);
    if (!(found < error)) return;
    error = found;
    best = now;
  };
  if (!(width > 0)) return best;
  for (int a = 0; a < grid; ++a) {
    for (int b = 0; b < grid; ++b) {
      const float cut_low = (static_cast<float>(a) - 0.5f) / grid * reach;
      const float cut_high = (static_cast<float>(b) - 0.5f) / grid * reach;
      Group now{.scale = width * (1.0f - cut_low - cut_high) / bins, .bias = low + cut_low * width};
      for (int again = 0; again < 2; ++again) {
        for (int i = 0; i < format.group; ++i) now.codes[i] = code_of(w[i], now.scale, now.bias, bins);
        if (!fit(w, importance, now, format.group)) break;
      }
      if (now.scale != 0) consider(now);
    }
  }
  for (int again = 0; again < 4; ++again) {
    Group now = best;
    if (!fit(w, importance, now, format.group)) break;
    consider(now);
  }
  return best;
}

}  // namespace

bool is_affine(int bits, int group) {
  constexpr int widths[] = {2, 3, 4, 5, 6, 8};
  return std::ranges::find(widths, bits) != std::end(widths) && (group == 32 || group == 64 || group == 128);
}

AffineGroup rounded_group(const float* w, const float* importance, const AffineFormat& format) {
  const Group group = nearest(w, format);
  switch (format.rounding) {
    case Rounding::nearest: return group;
    case Rounding::hqq: return stored(half_quadratic(w, group, format), w, format);
    case Rounding::weighted: return searched(w, importance, group, format);
  }
  return group;
}

void pack_codes(const uint8_t* codes, int count, int width, std::byte* to) {
  uint32_t bits = 0;
  int held = 0;
  for (int i = 0; i < count; ++i) {
    bits |= static_cast<uint32_t>(codes[i]) << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) *to++ = static_cast<std::byte>(bits & 255);
  }
}

Loss quantise_affine(const float* row, int64_t in, const float* importance, const AffineFormat& format, AffineTo to) {
  Loss loss;
  const size_t scale_bytes = format.scale_type == DType::f32 ? 4 : 2;
  for (int64_t first = 0; first < in; first += format.group) {
    const float* w = row + first;
    const float* weights = importance ? importance + first : nullptr;
    Group group = rounded_group(w, weights, format);
    pack_codes(group.codes, format.group, format.bits, to.codes + first * format.bits / 8);
    const size_t at = static_cast<size_t>(first / format.group) * scale_bytes;
    store_as(format.scale_type, group.scale, to.scales + at);
    store_as(format.scale_type, group.bias, to.biases + at);
    group.scale = rounded_to(format.scale_type, group.scale);
    group.bias = rounded_to(format.scale_type, group.bias);
    loss.error += error_of(w, weights, group, format.group);
    for (int i = 0; i < format.group; ++i)
      loss.energy += (weights ? weights[i] : 1.0f) * static_cast<double>(w[i]) * w[i];
  }
  return loss;
}

}  // namespace longhand
