// Layouts of keys and values in a cache (native/ops/memory.h, CacheType). Every layout offers element i of a head, the
// two or four from i on (a multiple of as many) by one load of codes, a simdgroup's store of a head (lane l holds
// elements l, l + 32, ... of `values` in threadgroup memory), and the bytes of the first n elements, n a multiple
// of 32.
#pragma once

#include "reduce.h"

struct CacheF32 {
  static uint bytes(uint n) { return 4 * n; }
  static float load(device const uchar* head, uint i) { return ((device const float*)head)[i]; }
  static float2 load2(device const uchar* head, uint i) { return *(device const packed_float2*)(head + 4 * i); }
  static float4 load4(device const uchar* head, uint i) { return *(device const packed_float4*)(head + 4 * i); }
  static void store(device uchar* head, threadgroup const float* values, uint dim, uint lane) {
    for (uint i = lane; i < dim; i += 32) ((device float*)head)[i] = values[i];
  }
};

struct CacheF16 {
  static uint bytes(uint n) { return 2 * n; }
  static float load(device const uchar* head, uint i) { return float(((device const half*)head)[i]); }
  static float2 load2(device const uchar* head, uint i) { return float2(*(device const packed_half2*)(head + 2 * i)); }
  static float4 load4(device const uchar* head, uint i) { return float4(*(device const packed_half4*)(head + 2 * i)); }
  static void store(device uchar* head, threadgroup const float* values, uint dim, uint lane) {
    for (uint i = lane; i < dim; i += 32) ((device half*)head)[i] = half(values[i]);
  }
};

// Blocks of 32: value = scale * code, |code| <= LIMIT, the codes found with the scale as it is stored. A lane an
// element.
template <int LIMIT>
static inline int block_code(threadgroup const float* values, uint first, uint dim, uint lane, thread half& scale) {
  const float value = first + lane < dim ? values[first + lane] : 0.0f;
  scale = half(simd_max(fabs(value)) / float(LIMIT));
  const float inverse = float(scale) > 0 ? 1.0f / float(scale) : 0.0f;
  return int(clamp(rint(value * inverse), -float(LIMIT), float(LIMIT)));
}

struct CacheQ8 {
  static uint bytes(uint n) { return n / 32 * 34; }
  static float load(device const uchar* head, uint i) {
    device const uchar* block = head + i / 32 * 34;
    return float(*(device const half*)block) * float(char(block[2 + i % 32]));
  }
  static float2 codes(device const uchar* at) {
    const uint two = *(device const ushort*)at;
    return float2(float(char(two & 255)), float(char(two >> 8)));
  }
  static float2 load2(device const uchar* head, uint i) {
    device const uchar* block = head + i / 32 * 34;
    return float(*(device const half*)block) * codes(block + 2 + i % 32);
  }
  static float4 load4(device const uchar* head, uint i) {
    device const uchar* block = head + i / 32 * 34;
    return float(*(device const half*)block) * float4(codes(block + 2 + i % 32), codes(block + 4 + i % 32));
  }
  static void store(device uchar* head, threadgroup const float* values, uint dim, uint lane) {
    for (uint first = 0; first < dim; first += 32, head += 34) {
      half scale;
      const int code = block_code<127>(values, first, dim, lane, scale);
      if (lane == 0) *(device half*)head = scale;
      head[2 + lane] = uchar(char(code));
    }
  }
};

struct CacheQ4 {
  static uint bytes(uint n) { return n / 32 * 18; }
  static float load(device const uchar* head, uint i) {
    device const uchar* block = head + i / 32 * 18;
    const uint byte = block[2 + i % 16];
    return float(*(device const half*)block) * float(int(i % 32 < 16 ? byte & 15u : byte >> 4) - 8);
  }
  static float2 codes(device const uchar* at, uint i) {
    const uint two = uint(*(device const ushort*)at) >> (i % 32 < 16 ? 0 : 4);
    return float2(float(two & 15), float(two >> 8 & 15)) - 8.0f;
  }
  static float2 load2(device const uchar* head, uint i) {
    device const uchar* block = head + i / 32 * 18;
    return float(*(device const half*)block) * codes(block + 2 + i % 16, i);
  }
  static float4 load4(device const uchar* head, uint i) {
    device const uchar* block = head + i / 32 * 18;
    return float(*(device const half*)block) * float4(codes(block + 2 + i % 16, i), codes(block + 4 + i % 16, i));
  }
  static void store(device uchar* head, threadgroup const float* values, uint dim, uint lane) {
    for (uint first = 0; first < dim; first += 32, head += 18) {
      half scale;
      const int code = block_code<7>(values, first, dim, lane, scale) + 8;
      const int upper = simd_shuffle_xor(code, 16);
      if (lane == 0) *(device half*)head = scale;
      if (lane < 16) head[2 + lane] = uchar(code | upper << 4);
    }
  }
};
