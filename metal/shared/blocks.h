// Weight layouts as stored in files (native/formats/blocks.h is the specification). Every layout offers
//   decode8(bytes, row, k, w): elements k .. k + 7 of a row, k a multiple of 8
// and plain ones decode1 too. Blocks are read by bytes and halves: a GGUF block is only 2-aligned.
#pragma once

#include "params.h"
#include "reduce.h"

constant uint GROUP [[function_constant(8)]];
constant uint SCALE_TYPE [[function_constant(9)]];

// Location of one row of a matrix in the bound buffer.
struct Row {
  ulong data, scales, biases;
  float global_scale;
};

static inline Row row_of(WeightSegment s, uint expert, uint r) {
  const ulong local = r - s.first;
  Row row;
  row.data = s.data + expert * s.expert_bytes + local * s.row_bytes;
  row.scales = s.scales + expert * s.expert_scale_bytes + local * s.row_scale_bytes;
  row.biases = s.biases + expert * s.expert_scale_bytes + local * s.row_scale_bytes;
  row.global_scale = s.global_scale;
  return row;
}

// Rows of expert e in ascending order. A matrix of one segment is `only`, which came with the parameters; from a table
// a segment is read when a row first lies in it.
struct Rows {
  device const WeightSegment* table;
  WeightSegment current;
  uint last, expert;

  Rows(device const WeightSegment* segments, constant WeightSegment& only, uint count, uint tables, uint e) {
    table = segments + (tables != 0 ? e * count : 0);
    last = count - 1;
    expert = tables != 0 ? 0 : e;
    if (count == 1 && tables == 0) current = only;
    else current = *table;
  }
  Row at(uint r) {
    while (last != 0 && r >= current.first + current.rows) {
      table++;
      last--;
      current = *table;
    }
    return row_of(current, expert, r);
  }
};

// Row r of expert e. An expert has `count` segments; with `tables` each expert has its own.
static inline Row find_row(device const WeightSegment* segments, uint count, uint tables, uint e, uint r) {
  device const WeightSegment* s = segments + (tables != 0 ? e * count : 0);
  uint i = 0;
  while (i + 1 < count && r >= s[i].first + s[i].rows) i++;
  return row_of(s[i], tables != 0 ? 0 : e, r);
}

static inline float half_at(device const uchar* p) { return float(*(device const half*)p); }
static inline float bf16_bits(ushort bits) { return as_type<float>(uint(bits) << 16); }

// E4M3: 4 exponent bits, bias 7, no infinities. E8M0: a power of two.
static inline float e4m3(uint bits) {
  const uint exponent = bits >> 3 & 15, mantissa = bits & 7;
  const float magnitude = exponent == 0 ? float(mantissa) * 0.001953125f  // 2^-9
                                        : as_type<float>((exponent + 120) << 23 | mantissa << 20);
  const float value = (bits & 127) == 127 ? NAN : magnitude;
  return (bits & 128) != 0 ? -value : value;
}
static inline float e8m0(uint bits) {
  if (bits == 255) return NAN;
  return as_type<float>(bits == 0 ? 0x00400000u : bits << 23);
}
// 0 .5 1 1.5 2 3 4 6 and their negatives, as twice the value.
static inline float fp4(uint code) {
  const uint c = code & 7;
  const float magnitude = c < 4 ? 0.5f * float(c) : c == 4 ? 2.0f : c == 5 ? 3.0f : c == 6 ? 4.0f : 6.0f;
  return (code & 8) != 0 ? -magnitude : magnitude;
}
constant constexpr short IQ4_VALUES[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// ---- plain --------------------------------------------------------------------------------------------------------

struct F32 {
  static float decode1(device const uchar* bytes, Row row, uint k) {
    return ((device const float*)(bytes + row.data))[k];
  }
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    for (uint i = 0; i < 8; i++) w[i] = decode1(bytes, row, k + i);
  }
};
struct F16 {
  static float decode1(device const uchar* bytes, Row row, uint k) {
    return float(((device const half*)(bytes + row.data))[k]);
  }
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    for (uint i = 0; i < 8; i++) w[i] = decode1(bytes, row, k + i);
  }
};
struct BF16 {
  static float decode1(device const uchar* bytes, Row row, uint k) {
    return bf16_bits(((device const ushort*)(bytes + row.data))[k]);
  }
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    for (uint i = 0; i < 8; i++) w[i] = decode1(bytes, row, k + i);
  }
};

// Layouts made of whole blocks never have a ragged row.
struct Blocks {
  static float decode1(device const uchar*, Row, uint) { return 0.0f; }
};

// ---- MLX: codes are a little-endian bit stream, scales (and biases) one a group
// --------------------------------------

// Eight codes of BITS bits fill BITS bytes: two words hold them for every width up to 8.
template <int BITS>
static inline void codes8(device const uchar* bytes, Row row, uint k, thread uint* codes) {
  device const uchar* p = bytes + row.data + ulong(k / 8) * BITS;
  ulong bits = 0;
  for (int i = 0; i < BITS; i++) bits |= ulong(p[i]) << (8 * i);
  for (int i = 0; i < 8; i++) codes[i] = uint(bits >> (BITS * i)) & ((1u << BITS) - 1);
}
static inline float group_value(device const uchar* bytes, ulong at, uint g) {
  if (SCALE_TYPE == 0) return ((device const float*)(bytes + at))[g];
  if (SCALE_TYPE == 1) return float(((device const half*)(bytes + at))[g]);
  return bf16_bits(((device const ushort*)(bytes + at))[g]);
}
template <int BITS>
struct Affine : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    uint codes[8];
    codes8<BITS>(bytes, row, k, codes);
    const float scale = group_value(bytes, row.scales, k / GROUP);
    const float bias = group_value(bytes, row.biases, k / GROUP);
    for (int i = 0; i < 8; i++) w[i] = scale * float(codes[i]) + bias;
  }
};
typedef Affine<2> Affine2;
typedef Affine<3> Affine3;
typedef Affine<4> Affine4;
typedef Affine<5> Affine5;
typedef Affine<6> Affine6;
typedef Affine<8> Affine8;
struct Mxfp4 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    uint codes[8];
    codes8<4>(bytes, row, k, codes);
    const float scale = e8m0(bytes[row.scales + k / GROUP]);
    for (int i = 0; i < 8; i++) w[i] = scale * fp4(codes[i]);
  }
};
struct Mxfp8 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    const float scale = e8m0(bytes[row.scales + k / GROUP]);
    for (uint i = 0; i < 8; i++) w[i] = scale * e4m3(bytes[row.data + k + i]);
  }
};
struct Nvfp4 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    uint codes[8];
    codes8<4>(bytes, row, k, codes);
    const float scale = e4m3(bytes[row.scales + k / GROUP]) * row.global_scale;
    for (int i = 0; i < 8; i++) w[i] = scale * fp4(codes[i]);
  }
};

// ---- GGUF, 32 elements: low nibbles are elements 0..15, high nibbles 16..31 -----------------------------------------

static inline uint nibble(device const uchar* qs, uint i) { return i < 16 ? qs[i] & 15u : uint(qs[i - 16]) >> 4; }

struct Q4_0 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 18;
    const float d = half_at(b);
    for (uint i = 0; i < 8; i++) w[i] = d * (float(nibble(b + 2, k % 32 + i)) - 8.0f);
  }
};
struct Q4_1 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 20;
    const float d = half_at(b), m = half_at(b + 2);
    for (uint i = 0; i < 8; i++) w[i] = d * float(nibble(b + 4, k % 32 + i)) + m;
  }
};
static inline uint five_bits(device const uchar* qh, device const uchar* qs, uint i) {
  return nibble(qs, i) | (uint(qh[i / 8]) >> (i % 8) & 1u) << 4;
}
struct Q5_0 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 22;
    const float d = half_at(b);
    for (uint i = 0; i < 8; i++) w[i] = d * (float(five_bits(b + 2, b + 6, k % 32 + i)) - 16.0f);
  }
};
struct Q5_1 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 24;
    const float d = half_at(b), m = half_at(b + 2);
    for (uint i = 0; i < 8; i++) w[i] = d * float(five_bits(b + 4, b + 8, k % 32 + i)) + m;
  }
};
struct Q8_0 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 34;
    const float d = half_at(b);
    for (uint i = 0; i < 8; i++) w[i] = d * float(char(b[2 + k % 32 + i]));
  }
};
struct Iq4Nl : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 18;
    const float d = half_at(b);
    for (uint i = 0; i < 8; i++) w[i] = d * float(IQ4_VALUES[nibble(b + 2, k % 32 + i)]);
  }
};
struct GgufMxfp4 : Blocks {
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 32) * 17;
    const float d = e8m0(b[0]);
    for (uint i = 0; i < 8; i++) w[i] = d * fp4(nibble(b + 1, k % 32 + i));
  }
};

// ---- GGUF, 256 elements ---------------------------------------------------------------------------------------------

struct Q2K : Blocks {  // scales 16 | qs 64 | d | dmin
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 256) * 84;
    const uint e = k % 256;
    const uint s = b[e / 16];
    const float scale = half_at(b + 80) * float(s & 15), least = half_at(b + 82) * float(s >> 4);
    for (uint i = 0; i < 8; i++) {
      const uint q = uint(b[16 + e / 128 * 32 + e % 32 + i]) >> (e % 128 / 32 * 2) & 3;
      w[i] = scale * float(q) - least;
    }
  }
};
struct Q3K : Blocks {  // hmask 32 | qs 64 | scales 12 | d
  static int six(device const uchar* b, uint j) {
    const uint low = j < 8 ? b[96 + j] & 15u : uint(b[96 + j - 8]) >> 4;
    return int(low | (uint(b[104 + j % 4]) >> (2 * (j / 4)) & 3) << 4) - 32;
  }
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 256) * 110;
    const uint e = k % 256;
    const float scale = half_at(b + 108) * float(six(b, e / 16));
    for (uint i = 0; i < 8; i++) {
      const uint two = uint(b[32 + e / 128 * 32 + e % 32 + i]) >> (e % 128 / 32 * 2) & 3;
      const uint third = uint(b[e % 32 + i]) >> (e / 32) & 1;
      w[i] = scale * float(int(two | third << 2) - 4);
    }
  }
};
// 6-bit scale and min of group j of Q4_K and Q5_K, from 12 bytes.
static inline uint2 scale_min(device const uchar* s, uint j) {
  // Groups 4 .. 7 have their upper two bits in the bytes of 0 .. 3. No branch: lanes of a simdgroup have both kinds.
  const bool split = j >= 4;
  const uint both = s[j + 4], own = s[split ? j - 4 : j], other = s[j];
  const uint mask = split ? 15 : 63, upper = split ? 48 : 0;
  return uint2(
      ((split ? both : own) & mask) | (own >> 2 & upper), (both >> (split ? 4 : 0) & mask) | (other >> 2 & upper));
}
struct Q4K : Blocks {  // d | dmin | scales 12 | qs 128
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 256) * 144;
    const uint e = k % 256;
    const uint2 s = scale_min(b + 4, e / 32);
    const float scale = half_at(b) * float(s.x), least = half_at(b + 2) * float(s.y);
    for (uint i = 0; i < 8; i++) {
      const uint q = uint(b[16 + e / 64 * 32 + e % 32 + i]) >> (e % 64 / 32 * 4) & 15;
      w[i] = scale * float(q) - least;
    }
  }
};
struct Q5K : Blocks {  // d | dmin | scales 12 | qh 32 | qs 128
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 256) * 176;
    const uint e = k % 256;
    const uint2 s = scale_min(b + 4, e / 32);
    const float scale = half_at(b) * float(s.x), least = half_at(b + 2) * float(s.y);
    for (uint i = 0; i < 8; i++) {
      const uint low = uint(b[48 + e / 64 * 32 + e % 32 + i]) >> (e % 64 / 32 * 4) & 15;
      const uint high = uint(b[16 + e % 32 + i]) >> (e / 32) & 1;
      w[i] = scale * float(low | high << 4) - least;
    }
  }
};
struct Q6K : Blocks {  // ql 128 | qh 64 | scales 16 | d
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 256) * 210;
    const uint e = k % 256, part = e / 128, quarter = e % 128 / 32;
    const float scale = half_at(b + 208) * float(char(b[192 + e / 16]));
    for (uint i = 0; i < 8; i++) {
      const uint low = uint(b[part * 64 + quarter % 2 * 32 + e % 32 + i]) >> (quarter / 2 * 4) & 15;
      const uint high = uint(b[128 + part * 32 + e % 32 + i]) >> (quarter * 2) & 3;
      w[i] = scale * float(int(low | high << 4) - 32);
    }
  }
};
struct Iq4Xs : Blocks {  // d | scales_h 2 | scales_l 4 | qs 128
  static void decode8(device const uchar* bytes, Row row, uint k, thread float* w) {
    device const uchar* b = bytes + row.data + ulong(k / 256) * 136;
    const uint e = k % 256, j = e / 32;
    const uint low = uint(b[4 + j / 2]) >> (4 * (j % 2)) & 15;
    const uint high = (uint(b[2]) | uint(b[3]) << 8) >> (2 * j) & 3;
    const float scale = half_at(b) * float(int(low | high << 4) - 32);
    for (uint i = 0; i < 8; i++) w[i] = scale * float(IQ4_VALUES[nibble(b + 8 + j * 16, e % 32 + i)]);
  }
};
