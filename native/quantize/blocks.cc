#include "quantize/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/blocks.h"
#include "quantize/half.h"

namespace longhand {

namespace {

constexpr float nothing = 1e-15f;  // ggml: a group below this is all zeros

int nearest(float value) { return static_cast<int>(rounded(value)); }
Half half(float value) {
  const uint16_t bits = f32_to_f16(value);
  Half out;
  std::memcpy(out.bytes, &bits, sizeof bits);
  return out;
}

// The value farthest from zero, with its sign.
float extreme(const float* x, int n) {
  float most = 0;
  for (int i = 0; i < n; ++i)
    if (std::abs(x[i]) > std::abs(most)) most = x[i];
  return most;
}

// ggml make_qx_quants: codes -nmax..nmax-1 (stored + nmax) and the scale of the least weighted squares, of 19 scales.
float symmetric(int n, int nmax, const float* x, const float* weights, uint8_t* codes) {
  const float most = extreme(x, n);
  if (std::abs(most) < nothing) {
    std::fill(codes, codes + n, uint8_t{0});
    return 0;
  }
  float scale = 0, best = 0;
  const auto try_scale = [&](float inverse, bool first) {
    float products = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const int l = std::clamp(nearest(inverse * x[i]), -nmax, nmax - 1);
      const float w = weights ? weights[i] : x[i] * x[i];
      products += w * x[i] * static_cast<float>(l);
      squares += w * static_cast<float>(l) * static_cast<float>(l);
    }
    if (!first && !(squares > 0 && products * products > best * squares)) return;
    for (int i = 0; i < n; ++i)
      codes[i] = static_cast<uint8_t>(std::clamp(nearest(inverse * x[i]), -nmax, nmax - 1) + nmax);
    scale = squares != 0 ? products / squares : 0.0f;
    best = scale * products;
  };
  try_scale(static_cast<float>(-nmax) / most, true);
  for (int step = -9; step <= 9; ++step)
    if (step != 0) try_scale(-(static_cast<float>(nmax) + 0.1f * static_cast<float>(step)) / most, false);
  return scale;
}

struct ScaleSearch {
  int nmax;
  float first, step;
  int steps;
};

// ggml make_qkx2_quants: x = scale * code - minimum, minimum >= 0.
struct ScaleAndMin {
  float scale, minimum;
};
ScaleAndMin asymmetric(int n, const float* x, const float* weights, const ScaleSearch& search) {
  float low = x[0], high = x[0], sum_w = weights[0], sum_x = weights[0] * x[0];
  for (int i = 1; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
    sum_w += weights[i];
    sum_x += weights[i] * x[i];
  }
  low = std::min(low, 0.0f);
  if (high == low) return {0, -low};
  const auto nmax = static_cast<float>(search.nmax);
  uint8_t codes[32];
  const auto round = [&](float inverse) {
    for (int i = 0; i < n; ++i)
      codes[i] = static_cast<uint8_t>(std::clamp(nearest(inverse * (x[i] - low)), 0, search.nmax));
  };
  const auto error = [&](float scale, float bias) {
    float sum = 0;
    for (int i = 0; i < n; ++i) {
      float difference = scale * static_cast<float>(codes[i]) + bias - x[i];
      difference = difference * difference;
      sum += weights[i] * difference;
    }
    return sum;
  };
  round(nmax / (high - low));
  float best = 1 / (nmax / (high - low));
  float least = error(best, low);
  for (int is = 0; is <= search.steps; ++is) {
    // From the lower end that is the best so far, as ggml has it.
    round((search.first + search.step * static_cast<float>(is) + nmax) / (high - low));
    float sum_l = 0, sum_l2 = 0, sum_xl = 0;
    for (int i = 0; i < n; ++i) {
      const auto l = static_cast<float>(codes[i]);
      sum_l += weights[i] * l;
      sum_l2 += weights[i] * l * l;
      sum_xl += weights[i] * l * x[i];
    }
    const float determinant = sum_w * sum_l2 - sum_l * sum_l;
    if (!(determinant > 0)) continue;
    float scale = (sum_w * sum_xl - sum_x * sum_l) / determinant;
    float bias = (sum_l2 * sum_x - sum_l * sum_xl) / determinant;
    if (bias > 0) {
      bias = 0;
      scale = sum_xl / sum_l2;
    }
    const float found = error(scale, bias);
    if (found < least) {
      least = found;
      best = scale;
      low = bias;
    }
  }
  return {best, -low};
}

void to_q8_0(const float* x, const float*, BlockQ8_0& block) {
  const float d = std::abs(extreme(x, 32)) / 127.0f;
  const float inverse = d != 0 ? 1.0f / d : 0.0f;
  block.d = half(d);
  for (int i = 0; i < 32; ++i) block.qs[i] = static_cast<int8_t>(std::round(x[i] * inverse));
}

void to_q4_0(const float* x, const float* importance, BlockQ4_0& block) {
  uint8_t codes[32];
  if (importance == nullptr) {
    const float d = extreme(x, 32) / -8.0f;
    const float inverse = d != 0 ? 1.0f / d : 0.0f;
    block.d = half(d);
    for (int i = 0; i < 32; ++i)
      codes[i] = static_cast<uint8_t>(std::min(15, static_cast<int>(static_cast<int8_t>(x[i] * inverse + 8.5f))));
  } else {
    block.d = half(symmetric(32, 8, x, importance, codes));
  }
  for (int i = 0; i < 16; ++i) block.qs[i] = static_cast<uint8_t>(codes[i] | codes[i + 16] << 4);
}

template <class Block>
void put_fives(const uint8_t* codes, Block& block) {
  uint32_t fifth = 0;
  for (int i = 0; i < 16; ++i) {
    block.qs[i] = static_cast<uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
    fifth |= static_cast<uint32_t>(codes[i] >> 4) << i | static_cast<uint32_t>(codes[i + 16] >> 4) << (i + 16);
  }
  std::memcpy(block.qh, &fifth, sizeof block.qh);
}

void to_q5_0(const float* x, const float* importance, BlockQ5_0& block) {
  uint8_t codes[32];
  if (importance == nullptr) {
    const float d = extreme(x, 32) / -16.0f;
    const float inverse = d != 0 ? 1.0f / d : 0.0f;
    block.d = half(d);
    for (int i = 0; i < 32; ++i)
      codes[i] = static_cast<uint8_t>(std::min(31, static_cast<int>(static_cast<int8_t>(x[i] * inverse + 16.5f))));
  } else {
    block.d = half(symmetric(32, 16, x, importance, codes));
  }
  put_fives(codes, block);
}

void to_q5_1(const float* x, const float*, BlockQ5_1& block) {
  const auto [low, high] = std::minmax_element(x, x + 32);
  const float d = (*high - *low) / 31.0f;
  const float inverse = d != 0 ? 1.0f / d : 0.0f;
  block.d = half(d);
  block.m = half(*low);
  uint8_t codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>((x[i] - *low) * inverse + 0.5f);
  put_fives(codes, block);
}

struct KScales {
  uint8_t packed[12] = {};
  Half d, dmin;
  uint8_t codes[256];
};

// The eight scales and minima of Q4_K and Q5_K in six bits each, then the codes for what those became.
KScales two_levels(const float* x, const float* importance, const ScaleSearch& search) {
  KScales out;
  ScaleAndMin groups[8];
  float most_scale = 0, most_min = 0;
  for (int j = 0; j < 8; ++j) {
    const float* group = x + 32 * j;
    float weights[32], squares = 0;
    for (int i = 0; i < 32; ++i) squares += group[i] * group[i];
    const float spread = std::sqrt(squares / 32.0f);
    for (int i = 0; i < 32; ++i) weights[i] = importance ? importance[32 * j + i] : spread + std::abs(group[i]);
    groups[j] = asymmetric(32, group, weights, search);
    most_scale = std::max(most_scale, groups[j].scale);
    most_min = std::max(most_min, groups[j].minimum);
  }
  const float inverse_scale = most_scale > 0 ? 63.0f / most_scale : 0.0f;
  const float inverse_min = most_min > 0 ? 63.0f / most_min : 0.0f;
  for (int j = 0; j < 8; ++j) {
    const auto scale = static_cast<uint8_t>(std::min(63, nearest(inverse_scale * groups[j].scale)));
    const auto minimum = static_cast<uint8_t>(std::min(63, nearest(inverse_min * groups[j].minimum)));
    if (j < 4) {
      out.packed[j] = scale;
      out.packed[j + 4] = minimum;
    } else {
      out.packed[j + 4] = static_cast<uint8_t>((scale & 15) | (minimum & 15) << 4);
      out.packed[j - 4] = static_cast<uint8_t>(out.packed[j - 4] | (scale >> 4) << 6);
      out.packed[j] = static_cast<uint8_t>(out.packed[j] | (minimum >> 4) << 6);
    }
  }
  out.d = half(most_scale / 63.0f);
  out.dmin = half(most_min / 63.0f);
  for (int j = 0; j < 8; ++j) {
    const ScaleMin both = scale_min(out.packed, j);
    const float d = out.d.value() * both.scale, m = out.dmin.value() * both.min;
    for (int i = 32 * j; i < 32 * j + 32; ++i)
      out.codes[i] = d != 0 ? static_cast<uint8_t>(std::clamp(nearest((x[i] + m) / d), 0, search.nmax)) : uint8_t{0};
  }
  return out;
}

void to_q4_k(const float* x, const float* importance, BlockQ4_K& block) {
  const KScales scales = two_levels(x, importance, {15, -1.0f, 0.1f, 20});
  block.d = scales.d;
  block.dmin = scales.dmin;
  std::memcpy(block.scales, scales.packed, sizeof block.scales);
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 32; ++i)
      block.qs[32 * j + i] = static_cast<uint8_t>(scales.codes[64 * j + i] | scales.codes[64 * j + 32 + i] << 4);
}

void to_q5_k(const float* x, const float* importance, BlockQ5_K& block) {
  const KScales scales = two_levels(x, importance, {31, -0.5f, 0.1f, 15});
  block.d = scales.d;
  block.dmin = scales.dmin;
  std::memcpy(block.scales, scales.packed, sizeof block.scales);
  std::memset(block.qh, 0, sizeof block.qh);
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 32; ++i) {
      const uint8_t low = scales.codes[64 * j + i], high = scales.codes[64 * j + 32 + i];
      block.qs[32 * j + i] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
      block.qh[i] = static_cast<uint8_t>(block.qh[i] | (low >> 4) << (2 * j) | (high >> 4) << (2 * j + 1));
    }
}

void to_q6_k(const float* x, const float* importance, BlockQ6_K& block) {
  uint8_t codes[256];
  float scales[16], most = 0;
  for (int j = 0; j < 16; ++j) {
    scales[j] = symmetric(16, 32, x + 16 * j, importance ? importance + 16 * j : nullptr, codes + 16 * j);
    if (std::abs(scales[j]) > std::abs(most)) most = scales[j];
  }
  if (std::abs(most) < nothing) {
    std::memset(&block, 0, sizeof block);
    return;
  }
  const float inverse = -128.0f / most;
  block.d = half(1 / inverse);
  for (int j = 0; j < 16; ++j) {
    block.scales[j] = static_cast<int8_t>(std::min(127, nearest(inverse * scales[j])));
    const float d = block.d.value() * block.scales[j];
    if (d == 0) continue;
    for (int i = 16 * j; i < 16 * j + 16; ++i)
      codes[i] = static_cast<uint8_t>(std::clamp(nearest(x[i] / d), -32, 31) + 32);
  }
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 32; ++i) {
      const uint8_t* q = codes + 128 * j + i;
      block.ql[64 * j + i] = static_cast<uint8_t>((q[0] & 15) | (q[64] & 15) << 4);
      block.ql[64 * j + 32 + i] = static_cast<uint8_t>((q[32] & 15) | (q[96] & 15) << 4);
      block.qh[32 * j + i] =
          static_cast<uint8_t>(q[0] >> 4 | (q[32] >> 4) << 2 | (q[64] >> 4) << 4 | (q[96] >> 4) << 6);
    }
}

template <class Block, int Elements, void (*encode)(const float*, const float*, Block&)>
void each(const float* row, int64_t in, const float* importance, std::byte* to) {
  for (int64_t i = 0; i < in / Elements; ++i) {
    const float* x = row + i * Elements;
    if (importance == nullptr) {
      encode(x, nullptr, reinterpret_cast<Block*>(to)[i]);
      continue;
    }
    // ggml: what is large among its neighbours counts more.
    float weights[Elements], squares = 0;
    for (int e = 0; e < Elements; ++e) squares += x[e] * x[e];
    const float spread = squares / Elements;
    for (int e = 0; e < Elements; ++e) weights[e] = importance[i * Elements + e] * std::sqrt(spread + x[e] * x[e]);
    encode(x, weights, reinterpret_cast<Block*>(to)[i]);
  }
}

void plain(const float* row, int64_t in, DType type, std::byte* to) {
  const int64_t size = type == DType::f32 ? 4 : 2;
  for (int64_t i = 0; i < in; ++i) store_as(type, row[i], to + i * size);
}

}  // namespace

bool is_block_target(DType type) {
  switch (type) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::q8_0:
    case DType::q4_0:
    case DType::q5_0:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k:
    case DType::q6_k: return true;
    default: return false;
  }
}

void quantise_blocks(const float* row, int64_t in, const float* importance, DType type, std::byte* to) {
  switch (type) {
    case DType::q8_0: return each<BlockQ8_0, 32, to_q8_0>(row, in, importance, to);
    case DType::q4_0: return each<BlockQ4_0, 32, to_q4_0>(row, in, importance, to);
    case DType::q5_0: return each<BlockQ5_0, 32, to_q5_0>(row, in, importance, to);
    case DType::q5_1: return each<BlockQ5_1, 32, to_q5_1>(row, in, importance, to);
    case DType::q4_k: return each<BlockQ4_K, 256, to_q4_k>(row, in, importance, to);
    case DType::q5_k: return each<BlockQ5_K, 256, to_q5_k>(row, in, importance, to);
    case DType::q6_k: return each<BlockQ6_K, 256, to_q6_k>(row, in, importance, to);
    default: return plain(row, in, type, to);
  }
}

}  // namespace longhand
