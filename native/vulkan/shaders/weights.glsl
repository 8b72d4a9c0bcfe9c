// Weight layouts as stored in files (native/formats/blocks.h is the specification), read as words: no 8-bit or 16-bit
// storage is needed. LAYOUT is a specialisation constant, so a pipeline keeps the one branch it uses. Arguments 0 and 1 of
// a kernel that includes this are the bytes of the matrix and its table of segments.
#ifndef WEIGHTS
#define WEIGHTS

#include "reduce.glsl"
#include "shared.h"

layout(constant_id = 8) const uint GROUP = 32;
layout(constant_id = 9) const uint SCALE_TYPE = 0;
layout(constant_id = 32) const uint LAYOUT = 0;
layout(constant_id = 36) const uint BITS = 4;

layout(binding = 0) readonly buffer Weights { uint weights[]; };
layout(binding = 1) readonly buffer Segments { WeightSegment segments[]; };

// Byte offsets of one row of a matrix. A binding is smaller than 4 GiB.
struct Row {
  uint data, scales, biases;
  float global_scale;
};

// Row r of expert e. An expert has `count` segments; with `tables` each expert has its own.
Row find_row(uint count, uint tables, uint e, uint r) {
  const uint table = tables != 0 ? e * count : 0;
  uint i = 0;
  while (i + 1 < count && r >= segments[table + i].first + segments[table + i].rows) i++;
  const WeightSegment s = segments[table + i];
  const uint local = r - s.first, expert = tables != 0 ? 0 : e;
  Row row;
  row.data = s.data.x + expert * s.expert_bytes.x + local * s.row_bytes.x;
  row.scales = s.scales.x + expert * s.expert_scale_bytes.x + local * s.row_scale_bytes.x;
  row.biases = s.biases.x + expert * s.expert_scale_bytes.x + local * s.row_scale_bytes.x;
  row.global_scale = s.global_scale;
  return row;
}

uint byte_at(uint at) { return (weights[at >> 2] >> ((at & 3) * 8)) & 0xffu; }
uint ushort_at(uint at) { return (weights[at >> 2] >> ((at & 2) * 8)) & 0xffffu; }  // at is even
float half_at(uint at) { return half_value(ushort_at(at)); }
int signed_byte(uint bits) { return int(bits << 24) >> 24; }
// Four bytes from any address, and eight.
uint word_at(uint at) {
  const uint shift = (at & 3) * 8, first = weights[at >> 2];
  return shift == 0 ? first : (first >> shift) | (weights[(at >> 2) + 1] << (32 - shift));
}
uvec2 words_at(uint at) { return uvec2(word_at(at), word_at(at + 4)); }
uint byte_of(uvec2 words, uint i) { return ((i < 4 ? words.x : words.y) >> ((i & 3) * 8)) & 0xffu; }

// E4M3: 4 exponent bits, bias 7, no infinities. E8M0: a power of two.
float e4m3(uint bits) {
  const uint exponent = (bits >> 3) & 15, mantissa = bits & 7;
  const float magnitude = exponent == 0 ? float(mantissa) * 0.001953125  // 2^-9
                                        : uintBitsToFloat((exponent + 120) << 23 | mantissa << 20);
  if ((bits & 127) == 127) return uintBitsToFloat(0x7fc00000u);
  return (bits & 128) != 0 ? -magnitude : magnitude;
}
float e8m0(uint bits) {
  return uintBitsToFloat(bits == 255 ? 0x7fc00000u : bits == 0 ? 0x00400000u : bits << 23);
}
// 0 .5 1 1.5 2 3 4 6 and their negatives.
float fp4(uint code) {
  const uint c = code & 7;
  const float magnitude = c < 4 ? 0.5 * float(c) : c < 7 ? float(c) - 2.0 : 6.0;
  return (code & 8) != 0 ? -magnitude : magnitude;
}
const int IQ4_VALUES[16] = int[16](-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);

float group_value(uint at, uint g) {
  if (SCALE_TYPE == 0) return uintBitsToFloat(weights[(at >> 2) + g]);
  const uint bits = ushort_at(at + 2 * g);
  return SCALE_TYPE == 1 ? half_value(bits) : bf16_value(bits);
}
// Code i of eight in a little-endian bit stream of BITS bits each.
uint code_of(uvec2 stream, uint i) {
  const uint first = i * BITS, mask = (1u << BITS) - 1;
  if (first >= 32) return (stream.y >> (first - 32)) & mask;
  const uint low = stream.x >> first;
  return (first + BITS > 32 ? low | (stream.y << (32 - first)) : low) & mask;
}
uvec2 stream_at(uint at) {  // BITS bytes; more is read only where the row's words reach
  return uvec2(word_at(at), BITS > 4 ? word_at(at + 4) : 0);
}

// Nibbles i .. i + 7 of 16 bytes at `at`: low halves are elements 0..15, high halves 16..31.
uvec2 nibbles_at(uint at, uint i) {
  const uvec2 bytes = words_at(at + (i & 15));
  return ((i < 16 ? bytes : bytes >> 4)) & 0x0f0f0f0fu;
}
// Bit i of the 32 at `at`, for i .. i + 7, as a byte.
uint high_bits(uint at, uint i) { return byte_at(at + i / 8); }

// 6-bit scale and min of group j of Q4_K and Q5_K, from 12 bytes at `at`.
uvec2 scale_min(uint at, uint j) {
  if (j < 4) return uvec2(byte_at(at + j) & 63, byte_at(at + j + 4) & 63);
  const uint low = byte_at(at + j + 4);
  return uvec2((low & 15) | (byte_at(at + j - 4) >> 6) << 4, (low >> 4) | (byte_at(at + j) >> 6) << 4);
}

#include "blocks.glsl"

#endif
