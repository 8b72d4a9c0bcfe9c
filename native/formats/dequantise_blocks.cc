#include "formats/dequantise_blocks.h"

namespace longhand {
namespace {

// Element i of 32 packed nibbles.
int nibble(const uint8_t* qs, int i) { return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4; }

// Element i of a five-bit block: its upper bit is bit i of qh.
int five_bits(const uint8_t* qs, const uint8_t* qh, int i) {
  return nibble(qs, i) | static_cast<int>(load<uint32_t>(qh) >> i & 1u) << 4;
}

}  // namespace

void decode_q4_0(const BlockQ4_0& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(nibble(block.qs, i) - 8);
}

void decode_q4_1(const BlockQ4_1& block, float* to) {
  const float d = block.d.value();
  const float m = block.m.value();
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(nibble(block.qs, i)) + m;
}

void decode_q5_0(const BlockQ5_0& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(five_bits(block.qs, block.qh, i) - 16);
}

void decode_q5_1(const BlockQ5_1& block, float* to) {
  const float d = block.d.value();
  const float m = block.m.value();
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(five_bits(block.qs, block.qh, i)) + m;
}

void decode_q8_0(const BlockQ8_0& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(block.qs[i]);
}

void decode_iq4_nl(const BlockIQ4_NL& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(iq4_values[nibble(block.qs, i)]);
}

void decode_mxfp4(const BlockMXFP4& block, float* to) {
  const float scale = e8m0_to_f32(block.e);
  for (int i = 0; i < 32; ++i) to[i] = scale * fp4_values[nibble(block.qs, i)];
}

// Codes of 128 elements share 32 bytes: element 32 j + l has bits 2j, 2j+1 of byte l. Groups of 16.
void decode_q2_k(const BlockQ2_K& block, float* to) {
  const float d = block.d.value();
  const float dmin = block.dmin.value();
  for (int i = 0; i < 256; ++i) {
    const int q = block.qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    const uint8_t scale = block.scales[i / 16];
    to[i] = d * static_cast<float>(scale & 15) * static_cast<float>(q) - dmin * static_cast<float>(scale >> 4);
  }
}

// Low two bits as in Q2_K; the third is bit i / 32 of hmask[i % 32].
void decode_q3_k(const BlockQ3_K& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 256; ++i) {
    const int low = block.qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    const int high = block.hmask[i % 32] >> (i / 32) & 1;
    to[i] = d * static_cast<float>(q3_scale(block.scales, i / 16)) * static_cast<float>((low | high << 2) - 4);
  }
}

// 64 elements share 32 bytes: the first 32 in the low nibbles, the others in the high ones. Groups of 32.
void decode_q4_k(const BlockQ4_K& block, float* to) {
  const float d = block.d.value();
  const float dmin = block.dmin.value();
  for (int i = 0; i < 256; ++i) {
    const auto [scale, min] = scale_min(block.scales, i / 32);
    const int q = block.qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
    to[i] = d * static_cast<float>(scale) * static_cast<float>(q) - dmin * static_cast<float>(min);
  }
}

// As Q4_K; the fifth bit is bit i / 32 of qh[i % 32].
void decode_q5_k(const BlockQ5_K& block, float* to) {
  const float d = block.d.value();
  const float dmin = block.dmin.value();
  for (int i = 0; i < 256; ++i) {
    const auto [scale, min] = scale_min(block.scales, i / 32);
    const int low = block.qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
    const int high = block.qh[i % 32] >> (i / 32) & 1;
    to[i] = d * static_cast<float>(scale) * static_cast<float>(low | high << 4) - dmin * static_cast<float>(min);
  }
}

// 128 elements share 64 bytes of low nibbles and 32 bytes of upper bit pairs. Groups of 16.
void decode_q6_k(const BlockQ6_K& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128;
    const int quarter = i % 128 / 32;
    const int low = block.ql[half * 64 + quarter % 2 * 32 + i % 32] >> (quarter / 2 * 4) & 15;
    const int high = block.qh[half * 32 + i % 32] >> (quarter * 2) & 3;
    to[i] = d * static_cast<float>(block.scales[i / 16]) * static_cast<float>((low | high << 4) - 32);
  }
}

// 32 elements a group; inside a group as IQ4_NL.
void decode_iq4_xs(const BlockIQ4_XS& block, float* to) {
  const float d = block.d.value();
  for (int i = 0; i < 256; ++i) {
    const float scale = d * static_cast<float>(iq4_xs_scale(block, i / 32));
    to[i] = scale * static_cast<float>(iq4_values[nibble(block.qs + i / 32 * 16, i % 32)]);
  }
}

}  // namespace longhand
