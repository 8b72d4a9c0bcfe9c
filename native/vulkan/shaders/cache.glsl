// Layouts of keys and values in a cache (native/ops/memory.h, CacheType), read and written as words. The 16-bit halves of
// a word may belong to different heads, so they are stored by atomics that leave the other half alone.
#ifndef CACHE
#define CACHE

#include "reduce.glsl"
#include "shared.h"

layout(constant_id = 33) const uint CACHE_TYPE = 0;

// Bytes of the first n elements of a head, n a multiple of 32.
uint cache_bytes(uint n) {
  if (CACHE_TYPE == kCacheF32) return 4 * n;
  return CACHE_TYPE == kCacheF16 ? 2 * n : n / 32 * (CACHE_TYPE == kCacheQ8 ? 34 : 18);
}

// Defines NAME(head, i): element i of the head whose first byte is `head`, in the words of a binding.
#define CACHE_READER(NAME, WORDS)                                                                                   \
  float NAME(uint head, uint i) {                                                                                   \
    if (CACHE_TYPE == kCacheF32) return uintBitsToFloat(WORDS[(head >> 2) + i]);                                    \
    if (CACHE_TYPE == kCacheF16) {                                                                                  \
      const uint at = head + 2 * i;                                                                                 \
      return half_value(WORDS[at >> 2] >> ((at & 2) * 8));                                                          \
    }                                                                                                               \
    const uint block = head + i / 32 * (CACHE_TYPE == kCacheQ8 ? 34 : 18);                                          \
    const float scale = half_value(WORDS[block >> 2] >> ((block & 2) * 8));                                         \
    const uint at = block + 2 + (CACHE_TYPE == kCacheQ8 ? i % 32 : i % 16);                                         \
    const uint code = (WORDS[at >> 2] >> ((at & 3) * 8)) & 0xffu;                                                   \
    if (CACHE_TYPE == kCacheQ8) return scale * float(int(code << 24) >> 24);                                        \
    return scale * float(int(i % 32 < 16 ? code & 15 : code >> 4) - 8);                                             \
  }

// Defines NAME(first, dim): all threads of a workgroup store `dim` elements of the shared array SOURCE, which they have
// written and met a barrier after. Blocks of 32: value = scale * code, found with the scale as it is stored.
#define CACHE_WRITER(NAME, WORDS, SOURCE)                                                                           \
  void NAME##_half(uint at, uint bits) {                                                                            \
    const uint shift = (at & 2) * 8;                                                                                \
    atomicAnd(WORDS[at >> 2], ~(0xffffu << shift));                                                                 \
    atomicOr(WORDS[at >> 2], (bits & 0xffffu) << shift);                                                            \
  }                                                                                                                 \
  float NAME##_scale(uint block, uint dim) {                                                                        \
    float most = 0.0;                                                                                               \
    for (uint i = block * 32; i < min(block * 32 + 32, dim); i++) most = max(most, abs(SOURCE[i]));                 \
    return half_value(half_bits(most / (CACHE_TYPE == kCacheQ8 ? 127.0 : 7.0)));                                    \
  }                                                                                                                 \
  uint NAME##_code(uint i, uint dim, float scale) {                                                                 \
    const float limit = CACHE_TYPE == kCacheQ8 ? 127.0 : 7.0;                                                       \
    const float inverse = scale > 0.0 ? 1.0 / scale : 0.0;                                                          \
    const float value = i < dim ? SOURCE[i] : 0.0;                                                                  \
    return uint(int(clamp(roundEven(value * inverse), -limit, limit)));                                             \
  }                                                                                                                 \
  void NAME(uint first, uint dim) {                                                                                 \
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;                                       \
    if (CACHE_TYPE == kCacheF32) {                                                                                  \
      for (uint i = thread; i < dim; i += threads) WORDS[(first >> 2) + i] = floatBitsToUint(SOURCE[i]);            \
    } else if (CACHE_TYPE == kCacheF16) {                                                                           \
      for (uint i = thread; i < dim; i += threads) NAME##_half(first + 2 * i, half_bits(SOURCE[i]));                \
    } else if (CACHE_TYPE == kCacheQ8) {                                                                            \
      for (uint pair = thread; pair < (dim + 31) / 32 * 17; pair += threads) {                                      \
        const uint block = pair / 17, i = block * 32 + pair % 17 * 2 - 2;                                           \
        const float scale = NAME##_scale(block, dim);                                                               \
        const uint bits = pair % 17 == 0 ? half_bits(scale)                                                         \
                                         : (NAME##_code(i, dim, scale) & 0xffu) | NAME##_code(i + 1, dim, scale) << 8;\
        NAME##_half(first + pair * 2, bits);                                                                        \
      }                                                                                                             \
    } else {                                                                                                        \
      for (uint pair = thread; pair < (dim + 31) / 32 * 9; pair += threads) {                                       \
        const uint block = pair / 9, i = block * 32 + pair % 9 * 2 - 2;                                             \
        const float scale = NAME##_scale(block, dim);                                                               \
        uint bits = half_bits(scale);                                                                               \
        if (pair % 9 != 0)                                                                                          \
          bits = (NAME##_code(i, dim, scale) + 8) | (NAME##_code(i + 16, dim, scale) + 8) << 4 |                    \
                 (NAME##_code(i + 1, dim, scale) + 8) << 8 | (NAME##_code(i + 17, dim, scale) + 8) << 12;           \
        NAME##_half(first + pair * 2, bits);                                                                        \
      }                                                                                                             \
    }                                                                                                               \
  }

#endif
