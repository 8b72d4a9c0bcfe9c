// decode1: element k of a row of a plain layout. codes8, decode8: elements k .. k + 7 of a row, k a multiple of 8.
float decode1(Row row, uint k) {
  if (LAYOUT == kLayoutF32) return uintBitsToFloat(weights[(row.data >> 2) + k]);
  if (LAYOUT == kLayoutF16) return half_at(row.data + 2 * k);
  if (LAYOUT == kLayoutBF16) return bf16_value(ushort_at(row.data + 2 * k));
  return 0.0;  // layouts of whole blocks have no elements left over
}

// Eight elements of a layout of integers: w_i = scale * byte_i + least. Bytes are unsigned, or signed where SIGNED_CODES.
struct Codes {
  uvec2 bytes;
  float scale, least;
};
#define SIGNED_CODES (LAYOUT == kLayoutQ8_0 || LAYOUT == kLayoutIq4Nl || LAYOUT == kLayoutIq4Xs)
#define INTEGERS (LAYOUT == kLayoutAffine || (LAYOUT >= kLayoutQ4_0 && LAYOUT <= kLayoutIq4Xs))

uint iq4_values(uint nibbles) {  // four nibbles, a byte each
  uint values = 0;
  for (uint i = 0; i < 32; i += 8) values |= (uint(IQ4_VALUES[(nibbles >> i) & 15]) & 0xffu) << i;
  return values;
}
uint spread_bits(uint four) {  // four bits, a byte each
  return (four & 1u) | (four & 2u) << 7 | (four & 4u) << 14 | (four & 8u) << 21;
}
// Codes i .. i + 3 of a stream, a byte each.
uint four_codes(uvec2 stream, uint i) {
  return code_of(stream, i) | code_of(stream, i + 1) << 8 | code_of(stream, i + 2) << 16 | code_of(stream, i + 3) << 24;
}

Codes codes_affine(Row row, uint k) {
  const uvec2 stream = stream_at(row.data + k / 8 * BITS);
  return Codes(uvec2(four_codes(stream, 0), four_codes(stream, 4)), group_value(row.scales, k / GROUP),
               group_value(row.biases, k / GROUP));
}

// GGUF, 32 elements a block.
Codes codes_4_bits(Row row, uint k) {  // d | m? | qs 16
  const bool has_min = LAYOUT == kLayoutQ4_1;
  const uint block = row.data + k / 32 * (has_min ? 20 : 18);
  const float d = half_at(block);
  const uvec2 codes = nibbles_at(block + (has_min ? 4 : 2), k % 32);
  if (LAYOUT == kLayoutIq4Nl) return Codes(uvec2(iq4_values(codes.x), iq4_values(codes.y)), d, 0.0);
  return Codes(codes, d, has_min ? half_at(block + 2) : -8.0 * d);
}
Codes codes_5_bits(Row row, uint k) {  // d | m? | qh 4 | qs 16
  const bool has_min = LAYOUT == kLayoutQ5_1;
  const uint block = row.data + k / 32 * (has_min ? 24 : 22), high = block + (has_min ? 4 : 2);
  const float d = half_at(block);
  const uint fifth = high_bits(high, k % 32);
  const uvec2 codes = nibbles_at(high + 4, k % 32) | uvec2(spread_bits(fifth), spread_bits(fifth >> 4)) << 4;
  return Codes(codes, d, has_min ? half_at(block + 2) : -16.0 * d);
}
Codes codes_8_bits(Row row, uint k) {  // d | qs 32
  const uint block = row.data + k / 32 * 34;
  return Codes(words_at(block + 2 + k % 32), half_at(block), 0.0);
}

// GGUF, 256 elements a block.
Codes codes_q2k(Row row, uint k) {  // scales 16 | qs 64 | d | dmin
  const uint block = row.data + k / 256 * 84, e = k % 256;
  const uint s = byte_at(block + e / 16);
  const uvec2 codes = (words_at(block + 16 + e / 128 * 32 + e % 32) >> (e % 128 / 32 * 2)) & 0x03030303u;
  return Codes(codes, half_at(block + 80) * float(s & 15), -half_at(block + 82) * float(s >> 4));
}
Codes codes_q3k(Row row, uint k) {  // hmask 32 | qs 64 | scales 12 | d
  const uint block = row.data + k / 256 * 110, e = k % 256, j = e / 16;
  const uint low = j < 8 ? byte_at(block + 96 + j) & 15 : byte_at(block + 96 + j - 8) >> 4;
  const int six = int(low | ((byte_at(block + 104 + j % 4) >> (2 * (j / 4))) & 3) << 4) - 32;
  const float scale = half_at(block + 108) * float(six);
  const uvec2 two = (words_at(block + 32 + e / 128 * 32 + e % 32) >> (e % 128 / 32 * 2)) & 0x03030303u;
  const uvec2 third = (words_at(block + e % 32) >> (e / 32)) & 0x01010101u;
  return Codes(two | (third << 2), scale, -4.0 * scale);
}
Codes codes_q4k(Row row, uint k) {  // d | dmin | scales 12 | qs 128
  const uint block = row.data + k / 256 * 144, e = k % 256;
  const uvec2 s = scale_min(block + 4, e / 32);
  const uvec2 codes = (words_at(block + 16 + e / 64 * 32 + e % 32) >> (e % 64 / 32 * 4)) & 0x0f0f0f0fu;
  return Codes(codes, half_at(block) * float(s.x), -half_at(block + 2) * float(s.y));
}
Codes codes_q5k(Row row, uint k) {  // d | dmin | scales 12 | qh 32 | qs 128
  const uint block = row.data + k / 256 * 176, e = k % 256;
  const uvec2 s = scale_min(block + 4, e / 32);
  const uvec2 low = (words_at(block + 48 + e / 64 * 32 + e % 32) >> (e % 64 / 32 * 4)) & 0x0f0f0f0fu;
  const uvec2 high = (words_at(block + 16 + e % 32) >> (e / 32)) & 0x01010101u;
  return Codes(low | (high << 4), half_at(block) * float(s.x), -half_at(block + 2) * float(s.y));
}
Codes codes_q6k(Row row, uint k) {  // ql 128 | qh 64 | scales 16 | d
  const uint block = row.data + k / 256 * 210, e = k % 256, part = e / 128, quarter = e % 128 / 32;
  const float scale = half_at(block + 208) * float(signed_byte(byte_at(block + 192 + e / 16)));
  const uvec2 low = (words_at(block + part * 64 + quarter % 2 * 32 + e % 32) >> (quarter / 2 * 4)) & 0x0f0f0f0fu;
  const uvec2 high = (words_at(block + 128 + part * 32 + e % 32) >> (quarter * 2)) & 0x03030303u;
  return Codes(low | (high << 4), scale, -32.0 * scale);
}
Codes codes_iq4xs(Row row, uint k) {  // d | scales_h 2 | scales_l 4 | qs 128
  const uint block = row.data + k / 256 * 136, e = k % 256, j = e / 32;
  const uint low = (byte_at(block + 4 + j / 2) >> (4 * (j % 2))) & 15;
  const uint high = (ushort_at(block + 2) >> (2 * j)) & 3;
  const uvec2 codes = nibbles_at(block + 8 + j * 16, e % 32);
  return Codes(uvec2(iq4_values(codes.x), iq4_values(codes.y)), half_at(block) * (float(low | high << 4) - 32.0), 0.0);
}

Codes codes8(Row row, uint k) {
  if (LAYOUT == kLayoutAffine) return codes_affine(row, k);
  if (LAYOUT == kLayoutQ4_0 || LAYOUT == kLayoutQ4_1 || LAYOUT == kLayoutIq4Nl) return codes_4_bits(row, k);
  if (LAYOUT == kLayoutQ5_0 || LAYOUT == kLayoutQ5_1) return codes_5_bits(row, k);
  if (LAYOUT == kLayoutQ8_0) return codes_8_bits(row, k);
  if (LAYOUT == kLayoutQ2K) return codes_q2k(row, k);
  if (LAYOUT == kLayoutQ3K) return codes_q3k(row, k);
  if (LAYOUT == kLayoutQ4K) return codes_q4k(row, k);
  if (LAYOUT == kLayoutQ5K) return codes_q5k(row, k);
  if (LAYOUT == kLayoutQ6K) return codes_q6k(row, k);
  return codes_iq4xs(row, k);
}

// Layouts of small floats: mxfp4, nvfp4, mxfp8, and GGUF's mxfp4.
void decode_floats(Row row, uint k, out float w[8]) {
  const uint code = byte_at(row.scales + k / GROUP);
  const float scale = LAYOUT == kLayoutNvfp4 ? e4m3(code) * row.global_scale : e8m0(code);
  if (LAYOUT == kLayoutMxfp8) {
    const uvec2 codes = words_at(row.data + k);
    for (uint i = 0; i < 8; i++) w[i] = scale * e4m3(byte_of(codes, i));
  } else {
    const uint codes = word_at(row.data + k / 2);
    for (uint i = 0; i < 8; i++) w[i] = scale * fp4((codes >> (4 * i)) & 15);
  }
}
void decode_gguf_mxfp4(Row row, uint k, out float w[8]) {  // e8m0 | qs 16
  const uint block = row.data + k / 32 * 17;
  const float d = e8m0(byte_at(block));
  const uvec2 codes = nibbles_at(block + 1, k % 32);
  for (uint i = 0; i < 8; i++) w[i] = d * fp4(byte_of(codes, i));
}

void decode8(Row row, uint k, out float w[8]) {
  if (INTEGERS) {
    const Codes codes = codes8(row, k);
    for (uint i = 0; i < 8; i++) {
      const uint code = byte_of(codes.bytes, i);
      w[i] = codes.scale * (SIGNED_CODES ? float(signed_byte(code)) : float(code)) + codes.least;
    }
  } else if (LAYOUT == kLayoutMxfp4 || LAYOUT == kLayoutMxfp8 || LAYOUT == kLayoutNvfp4) {
    decode_floats(row, k, w);
  } else if (LAYOUT == kLayoutGgufMxfp4) {
    decode_gguf_mxfp4(row, k, w);
  } else {
    for (uint i = 0; i < 8; i++) w[i] = decode1(row, k + i);
  }
}
