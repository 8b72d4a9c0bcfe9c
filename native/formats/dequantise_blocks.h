// One GGUF block to fp32. Each rounds as ggml's own dequantisation does: scale first, then one product (and one sum).
#pragma once

#include "formats/blocks.h"

namespace longhand {

void decode_q4_0(const BlockQ4_0& block, float* to);
void decode_q4_1(const BlockQ4_1& block, float* to);
void decode_q5_0(const BlockQ5_0& block, float* to);
void decode_q5_1(const BlockQ5_1& block, float* to);
void decode_q8_0(const BlockQ8_0& block, float* to);
void decode_iq4_nl(const BlockIQ4_NL& block, float* to);
void decode_mxfp4(const BlockMXFP4& block, float* to);
void decode_q2_k(const BlockQ2_K& block, float* to);
void decode_q3_k(const BlockQ3_K& block, float* to);
void decode_q4_k(const BlockQ4_K& block, float* to);
void decode_q5_k(const BlockQ5_K& block, float* to);
void decode_q6_k(const BlockQ6_K& block, float* to);
void decode_iq4_xs(const BlockIQ4_XS& block, float* to);

}  // namespace longhand
