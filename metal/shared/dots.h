// Eight elements of a row of W times eight of x, for a matvec: codes are masked in place in their word and never
// shifted, since x was divided by the place value beforehand, once for all rows; the scale multiplies the sum of the
// products, and the bias the sum of x, once for eight. MLX's qmv and llama.cpp's Q4_0 work the same way.
//   Dot<L>::divide(x, e)      x of elements e .. e + 7 of 256, e a multiple of 8, divided for any row
//   Dot<L>::dot(bytes, row, start, e, x)      elements start + e .. start + e + 7, start a multiple of 256
// Divisors are powers of two, so the division is exact. A lane walks in steps of 256, so what depends on e is found
// once.
#pragma once

#include "blocks.h"

struct Eight {
  float v[8];
  float sum;
};

// Layouts without codes, or whose codes go through a table: decoded as in blocks.h.
template <class L>
struct Dot {
  static void divide(thread Eight&, uint) {}
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    float w[8];
    L::decode8(bytes, row, start + e, w);
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += w[i] * x.v[i];
    return sum;
  }
};

// 2^-n, n up to 126.
static inline float negative_power(uint n) { return as_type<float>((127 - n) << 23); }
static inline uint half_word(device const uchar* p) { return *(device const ushort*)p; }

// ---- MLX ------------------------------------------------------------------------------------------------------------

static inline float with_bias(device const uchar* bytes, Row row, uint k, float products, float sum) {
  return group_value(bytes, row.scales, k / GROUP) * products + group_value(bytes, row.biases, k / GROUP) * sum;
}

// Codes i of a word at bit i * BITS.
template <int BITS>
static inline void divide_places(thread Eight& x, int first, int count) {
  for (int i = 0; i < count; i++) x.v[first + i] *= negative_power(uint(i * BITS));
}
template <int BITS>
static inline float masked(uint word, thread const Eight& x, int first, int count) {
  float sum = 0;
  for (int i = 0; i < count; i++) sum += x.v[first + i] * float(word & (((1u << BITS) - 1) << (i * BITS)));
  return sum;
}

template <>
struct Dot<Affine2> {
  static void divide(thread Eight& x, uint) { divide_places<2>(x, 0, 8); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    return with_bias(bytes, row, start + e, masked<2>(half_word(bytes + row.data + (start + e) / 4), x, 0, 8), x.sum);
  }
};
template <>
struct Dot<Affine3> {
  static void divide(thread Eight& x, uint) { divide_places<3>(x, 0, 8); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* p = bytes + row.data + (start + e) / 8 * 3;
    return with_bias(bytes, row, start + e, masked<3>(uint(p[0]) | uint(p[1]) << 8 | uint(p[2]) << 16, x, 0, 8), x.sum);
  }
};
template <>
struct Dot<Affine4> {
  static void divide(thread Eight& x, uint) {
    divide_places<4>(x, 0, 4);
    divide_places<4>(x, 4, 4);
  }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* p = bytes + row.data + (start + e) / 2;
    return with_bias(
        bytes, row, start + e, masked<4>(half_word(p), x, 0, 4) + masked<4>(half_word(p + 2), x, 4, 4), x.sum);
  }
};
template <>
struct Dot<Affine5> {  // six codes in a word, two in what is left of five bytes
  static void divide(thread Eight& x, uint) {
    divide_places<5>(x, 0, 6);
    divide_places<5>(x, 6, 2);
  }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* p = bytes + row.data + (start + e) / 8 * 5;
    const uint word = uint(p[0]) | uint(p[1]) << 8 | uint(p[2]) << 16 | uint(p[3]) << 24;
    const uint rest = word >> 30 | uint(p[4]) << 2;
    return with_bias(bytes, row, start + e, masked<5>(word, x, 0, 6) + masked<5>(rest, x, 6, 2), x.sum);
  }
};
template <>
struct Dot<Affine6> {  // four codes in three bytes
  static void divide(thread Eight& x, uint) {
    divide_places<6>(x, 0, 4);
    divide_places<6>(x, 4, 4);
  }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* p = bytes + row.data + (start + e) / 8 * 6;
    const uint first = half_word(p), middle = half_word(p + 2), last = half_word(p + 4);
    const float low = masked<6>(first | middle << 16, x, 0, 4);
    return with_bias(bytes, row, start + e, low + masked<6>(middle >> 8 | last << 8, x, 4, 4), x.sum);
  }
};
template <>
struct Dot<Affine8> {
  static void divide(thread Eight&, uint) {}
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* p = bytes + row.data + start + e;
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += x.v[i] * float(p[i]);
    return with_bias(bytes, row, start + e, sum, x.sum);
  }
};

// ---- GGUF: a code a byte, at one of several places in it ------------------------------------------------------------

// Two codes to a word of two bytes: x divided by the place of the first, and by 256 more for the second.
static inline void divide_pairs(thread Eight& x, uint place) {
  const float first = negative_power(place), second = negative_power(place + 8);
  for (int i = 0; i < 8; i++) x.v[i] *= i % 2 == 0 ? first : second;
}
// `mask`: of a code at its place in a byte.
static inline float masked_pairs(device const uchar* p, uint mask, thread const Eight& x) {
  float sum = 0;
  for (int i = 0; i < 4; i++) {
    const uint word = half_word(p + 2 * i);
    sum += x.v[2 * i] * float(word & mask);
    sum += x.v[2 * i + 1] * float(word & mask << 8);
  }
  return sum;
}
// Codes whose upper bits are stored separately: both parts are shifted into one byte.
static inline float joined_pairs(
    device const uchar* low,
    uint low_place,
    uint low_mask,
    device const uchar* high,
    uint high_place,
    uint high_mask,
    uint high_to,
    thread const Eight& x) {
  float sum = 0;
  for (int i = 0; i < 4; i++) {
    const uint word = (half_word(low + 2 * i) >> low_place & low_mask * 257) |
                      (half_word(high + 2 * i) >> high_place & high_mask * 257) << high_to;
    sum += x.v[2 * i] * float(word & 0xff);
    sum += x.v[2 * i + 1] * float(word & 0xff00);
  }
  return sum;
}

// Elements 0 .. 15 are the low nibbles, 16 .. 31 the high ones.
static inline uint nibble_place(uint e) { return e % 32 / 16 * 4; }

template <>
struct Dot<Q4_0> {
  static void divide(thread Eight& x, uint e) { divide_pairs(x, nibble_place(e)); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 32) * 18 + e / 32 * 18;
    return half_at(b) * (masked_pairs(b + 2 + e % 16, 15u << nibble_place(e), x) - 8.0f * x.sum);
  }
};
template <>
struct Dot<Q4_1> {
  static void divide(thread Eight& x, uint e) { divide_pairs(x, nibble_place(e)); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 32) * 20 + e / 32 * 20;
    return half_at(b) * masked_pairs(b + 4 + e % 16, 15u << nibble_place(e), x) + half_at(b + 2) * x.sum;
  }
};

// Five bits: the fifth bits of all eight codes share one byte.
static inline float five_bit_products(device const uchar* qh, device const uchar* qs, uint e, thread const Eight& x) {
  const uint place = nibble_place(e), high = qh[e % 32 / 8];
  float sum = 0;
  for (int i = 0; i < 4; i++) {
    const uint word = half_word(qs + e % 16 + 2 * i) >> place & 0x0f0f;
    sum += x.v[2 * i] * float((word & 0xff) | (high >> (2 * i) & 1) << 4);
    sum += x.v[2 * i + 1] * float((word & 0xff00) | (high >> (2 * i + 1) & 1) << 12);
  }
  return sum;
}
template <>
struct Dot<Q5_0> {
  static void divide(thread Eight& x, uint) { divide_pairs(x, 0); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 32) * 22 + e / 32 * 22;
    return half_at(b) * (five_bit_products(b + 2, b + 6, e, x) - 16.0f * x.sum);
  }
};
template <>
struct Dot<Q5_1> {
  static void divide(thread Eight& x, uint) { divide_pairs(x, 0); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 32) * 24 + e / 32 * 24;
    return half_at(b) * five_bit_products(b + 4, b + 8, e, x) + half_at(b + 2) * x.sum;
  }
};
template <>
struct Dot<Q8_0> {
  static void divide(thread Eight&, uint) {}
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 32) * 34 + e / 32 * 34;
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += x.v[i] * float(char(b[2 + e % 32 + i]));
    return half_at(b) * sum;
  }
};

template <>
struct Dot<Q2K> {
  static uint place(uint e) { return e % 128 / 32 * 2; }
  static void divide(thread Eight& x, uint e) { divide_pairs(x, place(e)); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 256) * 84;
    const uint s = b[e / 16];
    const float products = masked_pairs(b + 16 + e / 128 * 32 + e % 32, 3u << place(e), x);
    return half_at(b + 80) * float(s & 15) * products - half_at(b + 82) * float(s >> 4) * x.sum;
  }
};
template <>
struct Dot<Q3K> {
  static void divide(thread Eight& x, uint) { divide_pairs(x, 0); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 256) * 110;
    const float products =
        joined_pairs(b + 32 + e / 128 * 32 + e % 32, e % 128 / 32 * 2, 3, b + e % 32, e / 32, 1, 2, x);
    return half_at(b + 108) * float(Q3K::six(b, e / 16)) * (products - 4.0f * x.sum);
  }
};
template <>
struct Dot<Q4K> {
  static uint place(uint e) { return e % 64 / 32 * 4; }
  static void divide(thread Eight& x, uint e) { divide_pairs(x, place(e)); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 256) * 144;
    const uint2 s = scale_min(b + 4, e / 32);
    const float products = masked_pairs(b + 16 + e / 64 * 32 + e % 32, 15u << place(e), x);
    return half_at(b) * float(s.x) * products - half_at(b + 2) * float(s.y) * x.sum;
  }
};
template <>
struct Dot<Q5K> {
  static void divide(thread Eight& x, uint) { divide_pairs(x, 0); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 256) * 176;
    const uint2 s = scale_min(b + 4, e / 32);
    const float products =
        joined_pairs(b + 48 + e / 64 * 32 + e % 32, e % 64 / 32 * 4, 15, b + 16 + e % 32, e / 32, 1, 4, x);
    return half_at(b) * float(s.x) * products - half_at(b + 2) * float(s.y) * x.sum;
  }
};
template <>
struct Dot<Q6K> {
  static void divide(thread Eight& x, uint) { divide_pairs(x, 0); }
  static float dot(device const uchar* bytes, Row row, uint start, uint e, thread const Eight& x) {
    device const uchar* b = bytes + row.data + ulong(start / 256) * 210;
    const uint part = e / 128, quarter = e % 128 / 32;
    const float products = joined_pairs(
        b + part * 64 + quarter % 2 * 32 + e % 32, quarter / 2 * 4, 15, b + 128 + part * 32 + e % 32, quarter * 2, 3, 4,
        x);
    return half_at(b + 208) * float(char(b[192 + e / 16])) * (products - 32.0f * x.sum);
  }
};
