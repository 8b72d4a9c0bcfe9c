#include "cpu/attention/cache.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/kernels/scalar.h"
#include "cpu/weights/floats.h"

namespace longhand::cpu {
namespace {

constexpr int64_t cache_block = 32;
constexpr int64_t scale_bytes = 2;

float largest(const float* x, int64_t n) {
  float peak = 0;
  for (int64_t i = 0; i < n; ++i) peak = std::max(peak, std::fabs(x[i]));
  return peak;
}

// Symmetric: value = scale * code, |code| <= limit (127 or 7); the codes are found with the scale as it is stored.
void quantise_block(const float* x, int64_t n, float limit, std::byte* scale_at, int8_t codes[cache_block]) {
  const uint16_t bits = to_f16(largest(x, n) / limit);
  std::memcpy(scale_at, &bits, scale_bytes);
  const float scale = cpu::from_f16(bits);
  const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
  std::fill_n(codes, cache_block, int8_t{0});
  for (int64_t i = 0; i < n; ++i)
    codes[i] = static_cast<int8_t>(std::clamp(std::nearbyint(x[i] * inverse), -limit, limit));
}

}  // namespace

std::byte* cache_head(CacheType type, std::byte* cache, int64_t row, int64_t heads, int64_t dim, int64_t head) {
  return cache + row * cache_row_bytes(type, heads, dim) + head * cache_row_bytes(type, 1, dim);
}

void store_head(const Kernels& kernels, CacheType type, const float* from, int64_t dim, std::byte* to) {
  if (type == CacheType::f32) {
    std::memcpy(to, from, static_cast<size_t>(dim) * sizeof(float));
    return;
  }
  if (type == CacheType::f16) return kernels.to_f16(from, dim, to);
  const bool bytes = type == CacheType::q8;
  for (int64_t first = 0; first < dim; first += cache_block, to += bytes ? 34 : 18) {
    int8_t codes[cache_block];
    quantise_block(from + first, std::min(cache_block, dim - first), bytes ? 127.0f : 7.0f, to, codes);
    if (bytes) std::memcpy(to + scale_bytes, codes, cache_block);
    for (int64_t i = 0; !bytes && i < cache_block / 2; ++i)
      to[scale_bytes + i] = static_cast<std::byte>((codes[i] + 8) | (codes[i + cache_block / 2] + 8) << 4);
  }
}

void scalar::from_f16(const std::byte* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = cpu::from_f16(load_u16(from + 2 * i));
}

void scalar::to_f16(const float* from, int64_t n, std::byte* to) {
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t bits = cpu::to_f16(from[i]);
    std::memcpy(to + 2 * i, &bits, sizeof bits);
  }
}

void load_head(const Kernels& kernels, CacheType type, const std::byte* from, int64_t dim, float* to) {
  if (type == CacheType::f32) {
    std::memcpy(to, from, static_cast<size_t>(dim) * sizeof(float));
    return;
  }
  if (type == CacheType::f16) return kernels.from_f16(from, dim, to);
  const bool bytes = type == CacheType::q8;
  for (int64_t first = 0; first < dim; first += cache_block, from += bytes ? 34 : 18) {
    const float scale = cpu::from_f16(load_u16(from));
    const int64_t n = std::min(cache_block, dim - first);
    for (int64_t i = 0; i < n; ++i) {
      const int nibble = static_cast<int>(from[scale_bytes + i % 16] >> (i < 16 ? 0 : 4)) & 15;
      const int code = bytes ? static_cast<int8_t>(from[scale_bytes + i]) : nibble - 8;
      to[first + i] = scale * static_cast<float>(code);
    }
  }
}

}  // namespace longhand::cpu
