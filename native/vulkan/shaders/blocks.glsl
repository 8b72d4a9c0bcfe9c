// decode1: element k of a row of a plain layout. decode8: elements k .. k + 7 of a row, k a multiple of 8.
float decode1(Row row, uint k) {
  if (LAYOUT == kLayoutF32) return uintBitsToFloat(weights[(row.data >> 2) + k]);
  if (LAYOUT == kLayoutF16) return half_at(row.data + 2 * k);
  if (LAYOUT == kLayoutBF16) return bf16_value(ushort_at(row.data + 2 * k));
  return 0.0;  // layouts of whole blocks have no elements left over
}

void decode_affine(Row row, uint k, out float w[8]) {
  const uvec2 stream = stream_at(row.data + k / 8 * BITS);
  const float scale = group_value(row.scales, k / GROUP), bias = group_value(row.biases, k / GROUP);
  for (uint i = 0; i < 8; i++) w[i] = scale * float(code_of(stream, i)) + bias;
}
void decode_floats(Row row, uint k, out float w[8]) {  // mxfp4, nvfp4, mxfp8
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

// GGUF, 32 elements a block.
void decode_4_bits(Row row, uint k, out float w[8]) {  // d | m? | qs 16
  const bool has_min = LAYOUT == kLayoutQ4_1;
  const uint block = row.data + k / 32 * (has_min ? 20 : 18);
  const float d = half_at(block), least = has_min ? half_at(block + 2) : -8.0 * d;
  const uvec2 codes = nibbles_at(block + (has_min ? 4 : 2), k % 32);
  for (uint i = 0; i < 8; i++) {
    const uint code = byte_of(codes, i);
    w[i] = LAYOUT == kLayoutIq4Nl ? d * IQ4_VALUES[code] : has_min ? d * float(code) + least : d * (float(code) - 8.0);
  }
}
void decode_5_bits(Row row, uint k, out float w[8]) {  // d | m? | qh 4 | qs 16
  const bool has_min = LAYOUT == kLayoutQ5_1;
  const uint block = row.data + k / 32 * (has_min ? 24 : 22), high = block + (has_min ? 4 : 2);
  const float d = half_at(block), least = has_min ? half_at(block + 2) : 0.0;
  const uvec2 codes = nibbles_at(high + 4, k % 32);
  const uint fifth = high_bits(high, k % 32);
  for (uint i = 0; i < 8; i++) {
    const float code = float(byte_of(codes, i) | ((fifth >> i) & 1) << 4);
    w[i] = has_min ? d * code + least : d * (code - 16.0);
  }
}
void decode_8_bits(Row row, uint k, out float w[8]) {  // d | qs 32
  const uint block = row.data + k / 32 * 34;
  const float d = half_at(block);
  const uvec2 codes = words_at(block + 2 + k % 32);
  for (uint i = 0; i < 8; i++) w[i] = d * float(signed_byte(byte_of(codes, i)));
}
void decode_gguf_mxfp4(Row row, uint k, out float w[8]) {  // e8m0 | qs 16
  const uint block = row.data + k / 32 * 17;
  const float d = e8m0(byte_at(block));
  const uvec2 codes = nibbles_at(block + 1, k % 32);
  for (uint i = 0; i < 8; i++) w[i] = d * fp4(byte_of(codes, i));
}

// GGUF, 256 elements a block.
void decode_q2k(Row row, uint k, out float w[8]) {  // scales 16 | qs 64 | d | dmin
  const uint block = row.data + k / 256 * 84, e = k % 256;
  const uint s = byte_at(block + e / 16);
  const float scale = half_at(block + 80) * float(s & 15), least = half_at(block + 82) * float(s >> 4);
  const uvec2 codes = (words_at(block + 16 + e / 128 * 32 + e % 32) >> (e % 128 / 32 * 2)) & 0x03030303u;
  for (uint i = 0; i < 8; i++) w[i] = scale * float(byte_of(codes, i)) - least;
}
void decode_q3k(Row row, uint k, out float w[8]) {  // hmask 32 | qs 64 | scales 12 | d
  const uint block = row.data + k / 256 * 110, e = k % 256, j = e / 16;
  const uint low = j < 8 ? byte_at(block + 96 + j) & 15 : byte_at(block + 96 + j - 8) >> 4;
  const int six = int(low | ((byte_at(block + 104 + j % 4) >> (2 * (j / 4))) & 3) << 4) - 32;
  const float scale = half_at(block + 108) * float(six);
  const uvec2 two = (words_at(block + 32 + e / 128 * 32 + e % 32) >> (e % 128 / 32 * 2)) & 0x03030303u;
  const uvec2 third = (words_at(block + e % 32) >> (e / 32)) & 0x01010101u;
  const uvec2 codes = two | (third << 2);
  for (uint i = 0; i < 8; i++) w[i] = scale * (float(byte_of(codes, i)) - 4.0);
}
void decode_q4k(Row row, uint k, out float w[8]) {  // d | dmin | scales 12 | qs 128
  const uint block = row.data + k / 256 * 144, e = k % 256;
  const uvec2 s = scale_min(block + 4, e / 32);
  const float scale = half_at(block) * float(s.x), least = half_at(block + 2) * float(s.y);
  const uvec2 codes = (words_at(block + 16 + e / 64 * 32 + e % 32) >> (e % 64 / 32 * 4)) & 0x0f0f0f0fu;
  for (uint i = 0; i < 8; i++) w[i] = scale * float(byte_of(codes, i)) - least;
}
void decode_q5k(Row row, uint k, out float w[8]) {  // d | dmin | scales 12 | qh 32 | qs 128
  const uint block = row.data + k / 256 * 176, e = k % 256;
  const uvec2 s = scale_min(block + 4, e / 32);
  const float scale = half_at(block) * float(s.x), least = half_at(block + 2) * float(s.y);
  const uvec2 low = (words_at(block + 48 + e / 64 * 32 + e % 32) >> (e % 64 / 32 * 4)) & 0x0f0f0f0fu;
  const uvec2 high = (words_at(block + 16 + e % 32) >> (e / 32)) & 0x01010101u;
  const uvec2 codes = low | (high << 4);
  for (uint i = 0; i < 8; i++) w[i] = scale * float(byte_of(codes, i)) - least;
}
void decode_q6k(Row row, uint k, out float w[8]) {  // ql 128 | qh 64 | scales 16 | d
  const uint block = row.data + k / 256 * 210, e = k % 256, part = e / 128, quarter = e % 128 / 32;
  const float scale = half_at(block + 208) * float(signed_byte(byte_at(block + 192 + e / 16)));
  const uvec2 low = (words_at(block + part * 64 + quarter % 2 * 32 + e % 32) >> (quarter / 2 * 4)) & 0x0f0f0f0fu;
  const uvec2 high = (words_at(block + 128 + part * 32 + e % 32) >> (quarter * 2)) & 0x03030303u;
  const uvec2 codes = low | (high << 4);
  for (uint i = 0; i < 8; i++) w[i] = scale * (float(byte_of(codes, i)) - 32.0);
}
void decode_iq4xs(Row row, uint k, out float w[8]) {  // d | scales_h 2 | scales_l 4 | qs 128
  const uint block = row.data + k / 256 * 136, e = k % 256, j = e / 32;
  const uint low = (byte_at(block + 4 + j / 2) >> (4 * (j % 2))) & 15;
  const uint high = (ushort_at(block + 2) >> (2 * j)) & 3;
  const float scale = half_at(block) * (float(low | high << 4) - 32.0);
  const uvec2 codes = nibbles_at(block + 8 + j * 16, e % 32);
  for (uint i = 0; i < 8; i++) w[i] = scale * IQ4_VALUES[byte_of(codes, i)];
}

void decode8(Row row, uint k, out float w[8]) {
  if (LAYOUT == kLayoutAffine) decode_affine(row, k, w);
  else if (LAYOUT == kLayoutMxfp4 || LAYOUT == kLayoutMxfp8 || LAYOUT == kLayoutNvfp4) decode_floats(row, k, w);
  else if (LAYOUT == kLayoutQ4_0 || LAYOUT == kLayoutQ4_1 || LAYOUT == kLayoutIq4Nl) decode_4_bits(row, k, w);
  else if (LAYOUT == kLayoutQ5_0 || LAYOUT == kLayoutQ5_1) decode_5_bits(row, k, w);
  else if (LAYOUT == kLayoutQ8_0) decode_8_bits(row, k, w);
  else if (LAYOUT == kLayoutGgufMxfp4) decode_gguf_mxfp4(row, k, w);
  else if (LAYOUT == kLayoutQ2K) decode_q2k(row, k, w);
  else if (LAYOUT == kLayoutQ3K) decode_q3k(row, k, w);
  else if (LAYOUT == kLayoutQ4K) decode_q4k(row, k, w);
  else if (LAYOUT == kLayoutQ5K) decode_q5k(row, k, w);
  else if (LAYOUT == kLayoutQ6K) decode_q6k(row, k, w);
  else if (LAYOUT == kLayoutIq4Xs) decode_iq4xs(row, k, w);
  else
    for (uint i = 0; i < 8; i++) w[i] = decode1(row, k + i);
}
